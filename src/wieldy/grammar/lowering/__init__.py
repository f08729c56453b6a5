r"""JSON Schemas brought into what a decoding engine enforces strictly, with a report of every keyword.

A lowered schema says the same as its source with few kinds of keywords; what cannot be said with them is left out and
reported, so that it allows the same or more. These occur and no others:

* at the root `$defs`, and anywhere `{"$ref": "#/$defs/NAME"}` with nothing beside it;
* `{}`: any JSON;
* `{"anyOf": [...]}` and `{"enum": [...]}`, each with nothing beside it;
* `{"type": ONE}` with
    * for `integer` and `number`: `minimum` or `exclusiveMinimum`, `maximum` or `exclusiveMaximum`, `multipleOf`;
    * for `string`: `minLength`, `maxLength`, `pattern`, and `allOf` of `{"type": "string", "pattern": ...}` where there
      is more than one pattern. A pattern is `^(?:...)$` around literals, classes, groups `(?:...)`, `|`, `*`, `+`, `?`
      and `{m,n}`: no anchors, assertions or back references inside, and no shorthands such as `\d`;
    * for `array`: `minItems`, `maxItems`, `prefixItems`, `items` (may be `false`);
    * for `object`: `properties` (a value may be `false`: never written), `required` (all of them in `properties`),
      `patternProperties` (no two patterns, and no pattern and property, share a name), `additionalProperties`
      (`false` wherever there are `properties` or `patternProperties`), `minProperties`, `maxProperties`.
"""

from wieldy.grammar.lowering.bounds import bounded
from wieldy.grammar.lowering.lowered import Lowered, lowered, taken_by
from wieldy.grammar.lowering.tools import enforcement_of

__all__ = ["Lowered", "bounded", "enforcement_of", "lowered", "taken_by"]

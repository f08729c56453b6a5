"""Tasks of one turn whose functions stand in the prompt and whose calls stand in the model's text, in many forms.

Read in this order: `forms` (which there are), `functions` (how functions are described), `prompt`, `reading` and
`writing` (calls in each form), `tokens`, `expressions`, `java` and `javascript` (calls in these languages), `texts`
(the official verdict on a text), `cases`. Deliberately not here: which calls are right, which is as for any other task.
"""

"""The report of a study as one HTML file that opens anywhere: no server, no network, nothing to install.

`document` makes the index (what was run, every trial with its verdict, the rows of the report), `trajectory` tells one
run step by step (`call_steps` its calls, `timeline` where its time went), `chunk` puts it together with those within
it, for any page, and `writing` all of this as data into the file, with the page that shows it (`assembling`, `shell/`).
Everything is computed here; the page only shows. Law: no text of a model, a tool or a task becomes markup or script.
Deliberately not here: adding up (`wieldy.evals.reports.reporting`).
"""

from wieldy.evals.reports.page.chunk import Chunk
from wieldy.evals.reports.page.document import StudyResults, merged, read_study_results
from wieldy.evals.reports.page.redaction import Redaction
from wieldy.evals.reports.page.writing import write_page

__all__ = ["Chunk", "Redaction", "StudyResults", "merged", "read_study_results", "write_page"]

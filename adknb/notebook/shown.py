"""DataFrames that read well where they are shown, and are plain DataFrames for everything else."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adknb.core import views

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler


@lru_cache(maxsize=1)
def _table_class() -> type[pd.DataFrame]:
    import pandas as pd

    class Table(pd.DataFrame):
        """A DataFrame that shows itself through a Styler; what is computed from it is a plain DataFrame again."""

        _metadata = ["_styler"]  # noqa: RUF012  # pandas' own protocol for attributes of a subclass
        _styler: Callable[[], Styler]

        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return pd.DataFrame

        def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
            styler: Any = self._styler()  # pandas does not declare what front ends ask for
            return {"text/html": styler._repr_html_(), "text/plain": repr(styler)}

    return Table


def shown_table(data: pd.DataFrame, styler: Callable[[], Styler]) -> pd.DataFrame:
    """`data`, shown as `styler()` says."""
    table = _table_class()(data)
    object.__setattr__(table, "_styler", styler)
    return table


def view_of(result: Any, name: str) -> pd.DataFrame:
    """The table `name` of a run or session, shown as its readable form."""
    kind, _, rest = name.partition(" ")
    arguments = [rest] if rest else []
    return shown_table(views.table(result, kind, *arguments), lambda: views.styled(result, name))


def display(result: object, **options: Any) -> Any:
    """IPython's `display`."""
    from IPython import display as ipython

    show: Any = ipython.display
    return show(result, **options)

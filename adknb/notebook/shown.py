"""DataFrames that read well where they are shown, and are plain DataFrames for everything else."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@lru_cache(maxsize=1)
def _table_class() -> type[pd.DataFrame]:
    import pandas as pd

    class Table(pd.DataFrame):
        """A DataFrame that front ends show for reading; what is computed from it is a plain DataFrame again."""

        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return pd.DataFrame

        def __reduce__(self) -> str | tuple[Any, ...]:
            return pd.DataFrame(self).__reduce__()

        def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
            from adknb.notebook.cards.styler import readable_frame

            reader: Any = readable_frame(pd.DataFrame(self))  # pandas does not declare what front ends ask for
            return {"text/html": reader._repr_html_(), "text/plain": repr(reader)}

    return Table


def shown_table(data: pd.DataFrame) -> pd.DataFrame:
    """`data`, shown for reading: pandas' own form of it cuts texts, sets what stands between dollar signs as formulas,
    and fails at lone surrogates."""
    return _table_class()(data)


def display(result: object, **options: Any) -> Any:
    """IPython's `display`."""
    from IPython import display as ipython

    show: Any = ipython.display
    return show(result, **options)

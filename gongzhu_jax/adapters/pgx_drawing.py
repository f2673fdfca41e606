"""Our tables in Pgx's own visualizer, for `pgx.save_svg` and `pgx.save_svg_animation`.

States draw themselves without it (`to_svg`, `save_svg`, notebooks), and
`gongzhu_jax.adapters.drawing` writes animations.
"""

from typing import Any
from xml.etree import ElementTree

from gongzhu_jax.adapters import card_faces, drawing
from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.adapters.pgx_env import ENV_ID

with needs_extra("pgx"):
    from pgx._src.visualizer import Visualizer
    from svgwrite.container import Group

_GRID = 40  # Pgx counts sizes in cells, with one of them around the drawing
_set_config_of_pgx = Visualizer._set_config_by_state


def install_pgx_visualizer() -> None:
    """Teaches Pgx's visualizer our environment. To be asked for: it changes a class of Pgx."""
    Visualizer._set_config_by_state = _set_config


def _set_config(self: Any, _state: Any) -> None:
    if _state.env_id != ENV_ID:
        _set_config_of_pgx(self, _state)
        return
    self.config["GRID_SIZE"] = _GRID
    self.config["BOARD_WIDTH"] = drawing.WIDTH // _GRID
    self.config["BOARD_HEIGHT"] = drawing.HEIGHT // _GRID
    self.config["COLOR_SET"].background_color = drawing.find_theme(self.config["COLOR_THEME"]).table
    self._make_dwg_group = _draw


def _draw(dwg: Any, state: Any, config: dict[str, Any]) -> Group:
    table = drawing.table_group(state._x, drawing.find_theme(config["COLOR_THEME"]))
    return _Table(f'{card_faces.definitions()}<g font-family="{drawing.FONT}">{table}</g>')


class _Table(Group):
    """A group of svgwrite with our drawing in it."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self._content = content

    def get_xml(self) -> ElementTree.Element:
        xml = super().get_xml()
        xml.append(ElementTree.fromstring(f"<g>{self._content}</g>"))
        return xml

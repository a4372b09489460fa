"""Every command of the viewer, once: bindings, hints, help and palette are all made from this table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.binding import Binding, BindingType

from leet.tui.command import Command, Place, shown_key

__all__ = [
    "COMMANDS",
    "DIGITS",
    "GROUPS",
    "Command",
    "Place",
    "bindings",
    "by_group",
    "hints",
    "in_place",
    "keys_in_words",
    "shown_key",
]


def _in(*places: Place) -> frozenset[Place]:
    return frozenset(places)


_BOTH = _in("run", "workspace", "chart")
_RUN = _in("run", "workspace")
_RUNS = _in("workspace")
_COMPARE = _in("compare")
_CHOICE = _in("choice")
_SCATTER = _in("scatter")
_LOGS = _in("logs")
_RECORDS = _in("records")
_TOP = _in("top")
_MEDIA = _in("media")
_TABLE = _in("table")
_HELPED = _BOTH | _in("media_screen", "table")
_CONFIG = _in("config")

COMMANDS: tuple[Command, ...] = (
    Command("help", "question_mark,h", "All keys", "Everywhere", "help", _HELPED, hint="help"),
    Command("palette", "ctrl+p", "Command palette, and go to a metric by name", "Everywhere", "command_palette",
            _in("app"), palette=False),
    Command("quit", "q", "Quit", "Everywhere", "app.quit",
            _in("run", "workspace", "chart", "text", "media_screen", "table"), hint="quit"),
    Command("interrupt", "ctrl+c", "Quit, also while typing", "Everywhere", "quit", _in("app"),
            palette=False, priority=True),
    Command("suspend", "ctrl+z", "Back to the shell for a while; `fg` returns", "Everywhere", "suspend_process",
            _in("app"), palette=False, priority=True),

    Command("settings", "comma", "Settings", "Everywhere", "app.settings", _BOTH),
    Command("restart", "alt+r", "Start anew: settings and logs are read again", "Everywhere", "app.restart",
            _BOTH | _RECORDS | _TOP),

    Command("inspect_records", "i", "Look through the records of the log", "Panes", "inspect_records", _RUN),
    Command("next_pane", "tab", "Next pane (and section of the overview)", "Panes", "next_pane", _RUN, palette=False),
    Command("previous_pane", "shift+tab", "Previous pane", "Panes", "previous_pane", _RUN, palette=False),
    Command("overview", "left_square_bracket", "Show or hide the overview", "Panes", "toggle_pane('overview')",
            _in("run"), hint="overview"),
    Command("system", "right_square_bracket", "Show or hide the right side (system metrics)", "Panes",
            "toggle_pane('system')", _in("run"), hint="system"),
    Command("show_metrics", "1", "Show or hide the metrics", "Panes", "digit(1)", _RUN),
    Command("show_system", "2", "Show or hide the system metrics", "Panes", "digit(2)", _RUN),
    Command("show_media", "3", "Show or hide the media", "Panes", "digit(3)", _RUN),
    Command("show_logs", "4", "Show or hide the console", "Panes", "digit(4)", _RUN, hint="console"),
    Command("narrower", "ctrl+left,alt+left", "Border of the sidebar in focus to the left", "Panes", "resize('left')",
            _RUN, palette=False),
    Command("wider", "ctrl+right,alt+right", "… to the right", "Panes", "resize('right')", _RUN, palette=False),
    Command("higher", "ctrl+up,alt+up", "Border of the lower pane, or section of the overview, in focus up", "Panes",
            "resize('up')", _RUN, palette=False),
    Command("lower", "ctrl+down,alt+down", "… down", "Panes", "resize('down')", _RUN, palette=False),
    Command("reset_sizes", "0", "Usual sizes of all panes", "Panes", "digit(0)", _RUN),

    Command("up", "up,w", "Up", "Moving", "pane('move', 'up')", _RUN, palette=False),
    Command("down", "down,s", "Down", "Moving", "pane('move', 'down')", _RUN, palette=False),
    Command("left", "left,a", "Left; the crosshair too", "Moving", "pane('move', 'left')", _BOTH, palette=False),
    Command("right", "right,d", "Right; the crosshair too", "Moving", "pane('move', 'right')", _BOTH, palette=False),
    Command("far_left", "shift+left,A", "Crosshair by larger steps", "Moving", "pane('move_far', 'left')", _BOTH,
            palette=False),
    Command("far_right", "shift+right,D", "Crosshair by larger steps", "Moving", "pane('move_far', 'right')", _BOTH,
            palette=False),
    Command("next_page", "n,pagedown", "Next page", "Moving", "pane('next_page')", _BOTH, hint="page"),
    Command("previous_page", "N,pageup", "Previous page", "Moving", "pane('previous_page')", _BOTH),
    Command("first", "home", "First page or row", "Moving", "pane('first_page')", _BOTH),
    Command("last", "end", "Last page or row", "Moving", "pane('last_page')", _BOTH),
    Command("open_newer", "L", "Open the run that has started since, in place of this one", "Moving", "open_newer",
            _in("run", "chart")),
    Command("open", "enter", "Chart at full size; full value in the overview", "Moving", "open", _RUN),
    Command("back", "escape", "Back; leave the crosshair", "Moving", "back", _BOTH, palette=False),

    Command("filter_metrics", "slash", "Filter the metrics", "Filters", "filter('metrics')", _BOTH, hint="filter"),
    Command("filter_system", "backslash", "Filter the system metrics", "Filters", "filter('system')", _BOTH),
    Command("filter_overview", "o", "Filter the overview", "Filters", "filter('overview')", _RUN),
    Command("clear_metrics", "ctrl+l,ctrl+slash,ctrl+underscore", "Clear the metrics filter", "Filters",
            "clear_filter('metrics')", _RUN),
    Command("clear_system", "ctrl+backslash", "Clear the system filter", "Filters", "clear_filter('system')", _RUN),
    Command("clear_overview", "ctrl+o", "Clear the overview filter", "Filters", "clear_filter('overview')", _RUN),

    Command("filter_apply", "enter", "Keep the filter", "While typing a filter", "submit", _in("filter"),
            palette=False, hint="keep"),
    Command("filter_cancel", "escape", "Back to the filter before", "While typing a filter", "cancel",
            _in("filter"), palette=False, hint="back"),
    Command("filter_mode", "tab", "Regular expression or glob (* and ?)", "While typing a filter",
            "switch_mode", _in("filter"), palette=False, hint="regex/glob"),

    Command("x_axis", "x", "x axis: step, relative time, wall time", "Charts", "x_axis",
            _in("run", "chart")),
    Command("log_x", "ctrl+x", "Logarithmic x for steps and time since the start", "Charts", "log_x", _BOTH),
    Command("scale", "y", "Logarithmic y; heat map for percentages", "Charts", "pane('cycle_scale')", _BOTH),
    Command("outliers", "O", "y without outliers, which are marked at the edge; or with them", "Charts",
            "pane('cut_outliers')", _BOTH),
    Command("y_range", "Y", "Type a range for y: min..max", "Charts", "y_range", _BOTH),
    Command("threshold", "exclamation_mark", "Type a threshold, drawn as a line: >0.9 or <1e-3", "Charts", "threshold",
            _BOTH),
    Command("crosshair", "v", "Crosshair on all charts; left and right move it", "Charts", "pane('crosshair')", _BOTH),
    Command("anchor", "V", "Anchor at the crosshair, which then tells differences from it; or none", "Charts",
            "anchor", _BOTH),
    Command("favourite", "asterisk", "Mark the chart as a favourite, which comes first; or no longer", "Charts",
            "favourite", _BOTH),
    Command("favourites", "M", "Only the favourite charts, or all", "Charts", "favourites", _BOTH),
    Command("zoom_in", "plus", "Zoom in on x", "Charts", "pane('zoom_in')", _BOTH),
    Command("zoom_out", "minus", "Zoom out", "Charts", "pane('zoom_out')", _BOTH),
    Command("pan_left", "left_curly_bracket", "Pan to earlier", "Charts", "pane('pan', 'left')", _BOTH),
    Command("pan_right", "right_curly_bracket", "Pan to later", "Charts", "pane('pan', 'right')", _BOTH),
    Command("zoom_reset", "equals_sign", "Show all of x again", "Charts", "pane('reset_view')", _BOTH),
    Command("tail", "t", "System metrics: the last 10 minutes, or all", "Charts", "tail_window", _BOTH),
    Command("guides", "g", "Guides behind the curves: none, dots, lines", "Charts", "guides", _BOTH),
    Command("smoothing", "m", "Smooth the metrics: off, 0.6, 0.9, 0.99", "Charts", "smoothing", _BOTH),
    Command("columns", "c", "Then 1–9: columns of the pane's grid", "Charts", "grid('columns')", _RUN, palette=False),
    Command("rows", "r", "Then 1–9: rows of the pane's grid", "Charts", "grid('rows')", _RUN, palette=False),

    Command("select", "space", "Select the highlighted run: draw its curves; or no longer", "Runs", "select", _RUNS,
            hint="select"),
    Command("pin", "p", "Pin the highlighted run: drawn on top; or no longer", "Runs", "pin", _RUNS, hint="pin"),
    Command("select_all", "ctrl+a", "Select all runs that are listed (asks first)", "Runs", "select_all", _RUNS),
    Command("deselect", "x", "Deselect all but the pinned run", "Runs", "deselect", _RUNS),
    Command("filter_runs", "f", "Which runs are listed: `state:running config.lr>0.01 sort:summary.loss`", "Runs",
            "filter_runs", _RUNS, hint="find"),
    Command("clear_runs", "ctrl+f", "List all runs again", "Runs", "clear_runs", _RUNS),
    Command("sort_runs", "S", "Sort the runs: started, name, state, step, duration", "Runs", "sort", _RUNS),
    Command("run_columns", "T", "Columns of the list of runs: settings, results, fields", "Runs", "run_columns", _RUNS),
    Command("group_runs", "G", "Group the selected runs by a setting, tag, host, …: a curve for each group", "Runs",
            "group", _RUNS, hint="group"),
    Command("ungroup_runs", "ctrl+g", "Each run by itself again", "Runs", "ungroup", _RUNS),
    Command("group_band", "b", "Band around the mean of a group: min–max, ± standard deviation, none", "Runs", "band",
            _RUNS),
    Command("baseline", "P", "Make the highlighted run the baseline; or no longer", "Runs", "baseline", _RUNS),
    Command("differences", "B", "Draw differences to the baseline (else to the pinned run), or values", "Runs",
            "differences", _RUNS),
    Command("scatter", "K", "Which setting matters: results against settings, over the selected runs", "Runs",
            "scatter", _RUNS),
    Command("scatter_up", "up,w", "Setting before", "Settings against results", "pane('move', 'up')", _SCATTER,
            palette=False),
    Command("scatter_down", "down,s", "Next setting", "Settings against results", "pane('move', 'down')", _SCATTER,
            palette=False),
    Command("scatter_left", "left,a", "Result before", "Settings against results", "result(-1)", _SCATTER,
            palette=False),
    Command("scatter_right", "right,d", "Next result", "Settings against results", "result(1)", _SCATTER,
            palette=False, hint="result"),
    Command("scatter_result", "enter,slash", "Choose the result from a list", "Settings against results", "pick",
            _SCATTER),
    Command("scatter_next", "n", "Tell of the next run to the right", "Settings against results", "run(1)", _SCATTER,
            hint="run"),
    Command("scatter_previous", "N", "… to the left", "Settings against results", "run(-1)", _SCATTER),
    Command("scatter_log_x", "x", "Logarithmic x, or not", "Settings against results", "log('x')", _SCATTER,
            hint="log x"),
    Command("scatter_log_y", "y", "Logarithmic y, or not", "Settings against results", "log('y')", _SCATTER,
            hint="log y"),
    Command("scatter_page_down", "pagedown", "Next page of settings", "Settings against results",
            "pane('next_page')", _SCATTER, palette=False),
    Command("scatter_page_up", "pageup", "Page of settings before", "Settings against results",
            "pane('previous_page')", _SCATTER, palette=False),
    Command("scatter_first", "home", "First setting", "Settings against results", "pane('first_page')", _SCATTER,
            palette=False),
    Command("scatter_last", "end", "Last setting", "Settings against results", "pane('last_page')", _SCATTER,
            palette=False),
    Command("scatter_back", "escape,K,C", "Back", "Settings against results", "back", _SCATTER, hint="back"),
    Command("scatter_help", "question_mark,h", "All keys", "Settings against results", "help", _SCATTER, hint="help"),
    Command("scatter_quit", "q", "Quit", "Settings against results", "app.quit", _SCATTER, hint="quit"),
    Command("choice_up", "up", "The choice before", "Choosing from a list", "move(-1)", _CHOICE, palette=False),
    Command("choice_down", "down", "The choice after", "Choosing from a list", "move(1)", _CHOICE, palette=False),
    Command("choice_page_up", "pageup", "Ten choices up", "Choosing from a list", "move(-10)", _CHOICE, palette=False),
    Command("choice_page_down", "pagedown", "Ten choices down", "Choosing from a list", "move(10)", _CHOICE,
            palette=False),
    Command("choice_mark", "space,tab", "Take this choice too, or no longer", "Choosing from a list", "mark", _CHOICE,
            palette=False),
    Command("choice_keep", "enter", "Done", "Choosing from a list", "keep", _CHOICE, palette=False),
    Command("choice_cancel", "escape", "As before", "Choosing from a list", "cancel", _CHOICE, palette=False),
    Command("compare_up", "up,w", "Up", "Comparing runs", "pane('move', 'up')", _COMPARE, palette=False),
    Command("compare_down", "down,s", "Down", "Comparing runs", "pane('move', 'down')", _COMPARE, palette=False),
    Command("compare_baseline", "b,P", "Baseline: tell how far the other runs are from this one; or no longer",
            "Comparing runs", "baseline", _COMPARE, hint="baseline"),
    Command("compare_scatter", "K,v", "Which setting matters: results against settings", "Comparing runs", "scatter",
            _COMPARE, hint="matters"),
    Command("compare_left", "left,a", "Run to the left", "Comparing runs", "pane('move', 'left')", _COMPARE,
            palette=False),
    Command("compare_right", "right,d", "Run to the right", "Comparing runs", "pane('move', 'right')", _COMPARE,
            palette=False),
    Command("compare_next", "n,pagedown", "Next page", "Comparing runs", "pane('next_page')", _COMPARE, hint="page"),
    Command("compare_previous", "N,pageup", "Previous page", "Comparing runs", "pane('previous_page')", _COMPARE),
    Command("compare_first", "home", "First row and run", "Comparing runs", "pane('first_page')", _COMPARE),
    Command("compare_last", "end", "Last row", "Comparing runs", "pane('last_page')", _COMPARE),
    Command("compare_back", "escape,C", "Back to the runs", "Comparing runs", "back", _COMPARE, hint="back"),
    Command("compare_help", "question_mark,h", "All keys", "Comparing runs", "help", _COMPARE, hint="help"),
    Command("compare_quit", "q", "Quit", "Comparing runs", "app.quit", _COMPARE, hint="quit"),
    Command("compare", "C", "What differs between the selected runs: config and results", "Runs", "compare", _RUNS,
            hint="compare"),
    Command("runs_sidebar", "left_square_bracket", "Show or hide the list of runs", "Runs", "toggle_pane('runs')",
            _RUNS),
    Command("runs_overview", "right_square_bracket", "Show or hide the overview", "Runs", "toggle_pane('overview')",
            _RUNS),
    Command("runs_x_axis", "X", "x axis: step, relative time, wall time", "Runs", "x_axis", _RUNS),

    Command("logs_search", "F", "Search; Enter keeps it, Esc gives it up", "Console logs", "search", _LOGS,
            palette=False, hint="search"),
    Command("logs_next_match", "greater_than_sign", "Next line that was searched", "Console logs", "next_match", _LOGS,
            palette=False),
    Command("logs_previous_match", "less_than_sign", "The one before", "Console logs", "previous_match", _LOGS,
            palette=False),
    Command("logs_wrap", "W", "Wrap long lines, or scroll sideways", "Console logs", "wrap", _LOGS, palette=False,
            hint="wrap"),
    Command("logs_errors", "E", "Only stderr, or all", "Console logs", "errors_only", _LOGS, palette=False,
            hint="stderr"),
    Command("logs_level", "e", "Only INFO and above, WARNING, ERROR, CRITICAL, or all", "Console logs", "level", _LOGS,
            palette=False, hint="level"),
    Command("logs_link", "l", "Line and crosshair of the charts at the same moment", "Console logs", "link", _LOGS,
            palette=False),
    Command("logs_copy", "y", "Copy the line to the clipboard (OSC 52)", "Console logs", "copy", _LOGS,
            palette=False),
    Command("logs_save", "ctrl+s", "Save the lines that are listed to a file", "Console logs", "save", _LOGS,
            palette=False),

    Command("media_left", "left", "Sample before", "Media", "scrub(-1)", _MEDIA, palette=False),
    Command("media_right", "right", "Next sample", "Media", "scrub(1)", _MEDIA, palette=False, hint="sample"),
    Command("media_up", "up", "Ten samples back", "Media", "scrub_far(-1)", _MEDIA, palette=False),
    Command("media_down", "down", "Ten samples on", "Media", "scrub_far(1)", _MEDIA, palette=False),
    Command("media_first", "home", "First sample", "Media", "first_page", _MEDIA, palette=False),
    Command("media_last", "end", "Newest sample, and follow it", "Media", "last_page", _MEDIA, palette=False),
    Command("media_tile_left", "a", "Tile to the left", "Media", "move('left')", _MEDIA, palette=False),
    Command("media_tile_right", "d", "Tile to the right", "Media", "move('right')", _MEDIA, palette=False),
    Command("media_tile_above", "w", "Tile above", "Media", "move('up')", _MEDIA, palette=False),
    Command("media_tile_below", "s", "Tile below", "Media", "move('down')", _MEDIA, palette=False),
    Command("media_next_page", "n,pagedown", "Next page of tiles", "Media", "next_page", _MEDIA, palette=False),
    Command("media_previous_page", "N,pageup", "Previous page of tiles", "Media", "previous_page", _MEDIA,
            palette=False),
    Command("media_open", "enter", "Tile over the whole screen; a table as a table", "Media", "open", _MEDIA,
            hint="open"),
    Command("media_link", "l", "Move all tiles and the charts' crosshairs together", "Media", "link", _MEDIA,
            hint="link"),
    Command("media_overlays", "m", "Masks and boxes over the pictures", "Media", "overlays", _MEDIA, hint="masks"),
    Command("media_resolution", "k", "Half blocks, or full resolution (Kitty, Sixel)", "Media", "resolution", _MEDIA),
    Command("media_outside", "e", "Open the file with the system's viewer", "Media", "open_outside", _MEDIA),
    Command("media_back", "escape", "Back to the panes", "Media", "back", _in("media_screen"), palette=False),

    Command("table_up", "up,w", "Row above", "In a table", "table('move', 'up')", _TABLE, palette=False),
    Command("table_down", "down,s", "Row below", "In a table", "table('move', 'down')", _TABLE, palette=False),
    Command("table_left", "left,a", "Column to the left", "In a table", "table('move', 'left')", _TABLE,
            palette=False),
    Command("table_right", "right,d", "Column to the right", "In a table", "table('move', 'right')", _TABLE,
            palette=False),
    Command("table_next_page", "n,pagedown,space", "Next page of rows", "In a table", "table('page', 1)", _TABLE,
            palette=False),
    Command("table_previous_page", "N,pageup", "Previous page of rows", "In a table", "table('page', -1)", _TABLE,
            palette=False),
    Command("table_first", "home", "First row", "In a table", "table('first')", _TABLE, palette=False),
    Command("table_last", "end", "Last row", "In a table", "table('last')", _TABLE, palette=False),
    Command("table_open", "enter", "Cell in full", "In a table", "open", _TABLE, palette=False, hint="cell"),
    Command("table_back", "escape", "Leave the table", "In a table", "back", _TABLE, palette=False),

    Command("text_close", "escape,h,question_mark,enter", "Close", "In a text", "close", _in("text"), palette=False,
            hint="close"),
    Command("text_copy", "y", "Copy the text to the clipboard (OSC 52)", "In a text", "copy", _in("text"),
            palette=False),

    Command("records_help", "question_mark,h", "All keys", "Record inspector", "help", _RECORDS, hint="help"),
    Command("records_quit", "q", "Quit", "Record inspector", "app.quit", _RECORDS, hint="quit"),
    Command("records_back", "escape", "Back: to the list, and to where one came from", "Record inspector", "back",
            _RECORDS, palette=False),
    Command("records_side", "tab,shift+tab", "From the list to the record, and back", "Record inspector", "next_pane",
            _RECORDS, palette=False),
    Command("records_up", "up,w", "Up", "Record inspector", "pane('move', 'up')", _RECORDS, palette=False),
    Command("records_down", "down,s", "Down", "Record inspector", "pane('move', 'down')", _RECORDS, palette=False),
    Command("records_next", "n,pagedown", "Next page", "Record inspector", "pane('next_page')", _RECORDS, hint="page"),
    Command("records_previous", "N,pageup", "Previous page", "Record inspector", "pane('previous_page')", _RECORDS),
    Command("records_first", "home", "First record or line", "Record inspector", "pane('first_page')", _RECORDS),
    Command("records_last", "end", "Last record or line; the list then follows a growing log", "Record inspector",
            "pane('last_page')", _RECORDS, hint="follow"),
    Command("records_open", "enter", "The record over the whole width, and back", "Record inspector", "open",
            _RECORDS),
    Command("records_filter", "slash", "Filter by kind or digest", "Record inspector", "filter", _RECORDS,
            hint="filter"),
    Command("records_clear", "ctrl+l,ctrl+slash,ctrl+underscore", "All records again", "Record inspector",
            "clear_filter", _RECORDS),
    Command("records_go_to", "colon,g", "Go to a record by its number, or to @offset", "Record inspector", "go_to",
            _RECORDS, hint="go to"),
    Command("records_form", "J", "Record as fields, protobuf text, JSON", "Record inspector", "form", _RECORDS,
            hint="form"),
    Command("records_copy", "y", "Copy the record as JSON (OSC 52)", "Record inspector", "copy", _RECORDS,
            hint="copy"),
    Command("records_narrower", "ctrl+left,alt+left", "Border to the left", "Record inspector", "resize('left')",
            _RECORDS, palette=False),
    Command("records_wider", "ctrl+right,alt+right", "Border to the right", "Record inspector", "resize('right')",
            _RECORDS, palette=False),
    Command("records_sizes", "0", "Usual width of the list", "Record inspector", "reset_sizes", _RECORDS),

    Command("help_search", "slash", "Search the keys", "In the help", "search", _in("help"), palette=False,
            hint="search"),

    Command("config_up", "up,k", "Up", "Settings", "move('up')", _CONFIG, palette=False),
    Command("config_down", "down,j", "Down", "Settings", "move('down')", _CONFIG, palette=False),
    Command("config_page_up", "pageup", "Previous page", "Settings", "page(-1)", _CONFIG, palette=False),
    Command("config_page_down", "pagedown", "Next page", "Settings", "page(1)", _CONFIG, palette=False),
    Command("config_first", "home", "First setting", "Settings", "end(False)", _CONFIG, palette=False),
    Command("config_last", "end", "Last setting", "Settings", "end(True)", _CONFIG, palette=False),
    Command("config_less", "left,h", "The value before", "Settings", "change(-1)", _CONFIG, palette=False),
    Command("config_more", "right,l", "The value after", "Settings", "change(1)", _CONFIG, palette=False),
    Command("config_edit", "enter", "Pick or type a value", "Settings", "edit", _CONFIG, hint="edit"),
    Command("config_switch", "space", "Switch on or off", "Settings", "switch", _CONFIG, palette=False),
    Command("config_reset", "r", "Back to the default", "Settings", "reset", _CONFIG, hint="default"),
    Command("config_filter", "slash", "Find settings by their words", "Settings", "filter", _CONFIG, hint="filter"),
    Command("config_save", "s,ctrl+s", "Save and leave", "Settings", "save", _CONFIG, hint="save"),
    Command("config_leave", "q,escape", "Leave; asks when something was changed", "Settings", "leave", _CONFIG,
            hint="leave"),
    Command("config_help", "question_mark", "All keys", "Settings", "help", _CONFIG, hint="help"),
    Command("entry_keep", "enter", "Keep what is typed", "Settings", "submit", _in("entry"), palette=False,
            hint="keep"),
    Command("entry_cancel", "escape", "As before", "Settings", "cancel", _in("entry"), palette=False, hint="as before"),
    Command("picker_up", "up,k,w", "The choice before", "Settings", "move(-1)", _in("picker"), palette=False),
    Command("picker_down", "down,j,s", "The choice after", "Settings", "move(1)", _in("picker"), palette=False),
    Command("picker_page_up", "pageup", "Ten choices up", "Settings", "move(-10)", _in("picker"), palette=False),
    Command("picker_page_down", "pagedown", "Ten choices down", "Settings", "move(10)", _in("picker"), palette=False),
    Command("picker_keep", "enter,space", "Take this choice", "Settings", "keep", _in("picker"), palette=False),
    Command("picker_cancel", "escape,q", "As before", "Settings", "cancel", _in("picker"), palette=False),

    Command("top_help", "question_mark,h", "All keys", "Monitor", "help", _TOP, hint="help"),
    Command("top_quit", "q", "Quit", "Monitor", "app.quit", _TOP, hint="quit"),
    Command("top_back", "escape", "Leave the crosshair, the chart, the process", "Monitor", "back", _TOP,
            palette=False),
    Command("top_side", "tab,shift+tab", "From the charts to the processes, and back", "Monitor", "next_pane", _TOP,
            palette=False),
    Command("top_sidebar", "left_square_bracket", "Show or hide vitals and processes", "Monitor", "toggle_sidebar",
            _TOP),
    Command("top_sort", "t", "Sort the processes: CPU, memory, GPU memory, number", "Monitor", "sort", _TOP,
            hint="sort"),
    Command("top_tree", "e", "Processes as a tree, or as a list", "Monitor", "tree", _TOP, hint="tree"),
    Command("top_find", "f", "Filter the processes by command, owner or number", "Monitor", "filter('processes')",
            _TOP, hint="find"),
    Command("top_find_clear", "ctrl+f", "All processes again", "Monitor", "clear_filter('processes')", _TOP),
    Command("top_filter", "slash,backslash", "Filter the charts", "Monitor", "filter('system')", _TOP, hint="filter"),
    Command("top_filter_clear", "ctrl+l,ctrl+slash,ctrl+underscore,ctrl+backslash", "All charts again",
            "Monitor", "clear_filter('system')", _TOP),
    Command("top_record", "R", "Record what is shown as a run in ./wandb, or end that", "Monitor", "record", _TOP,
            hint="record"),
    Command("top_up", "up,w", "Up", "Monitor", "pane('move', 'up')", _TOP, palette=False),
    Command("top_down", "down,s", "Down", "Monitor", "pane('move', 'down')", _TOP, palette=False),
    Command("top_left", "left,a", "Left; the crosshair too", "Monitor", "pane('move', 'left')", _TOP, palette=False),
    Command("top_right", "right,d", "Right; the crosshair too", "Monitor", "pane('move', 'right')", _TOP,
            palette=False),
    Command("top_far_left", "shift+left,A", "Crosshair by larger steps", "Monitor", "pane('move_far', 'left')", _TOP,
            palette=False),
    Command("top_far_right", "shift+right,D", "Crosshair by larger steps", "Monitor", "pane('move_far', 'right')",
            _TOP, palette=False),
    Command("top_next", "n,pagedown", "Next page", "Monitor", "pane('next_page')", _TOP, hint="page"),
    Command("top_previous", "N,pageup", "Previous page", "Monitor", "pane('previous_page')", _TOP),
    Command("top_first", "home", "First page or process", "Monitor", "pane('first_page')", _TOP),
    Command("top_last", "end", "Last page or process", "Monitor", "pane('last_page')", _TOP),
    Command("top_open", "enter", "Chart at full size; all about a process", "Monitor", "open", _TOP),
    Command("top_scale", "y", "Logarithmic y; heat map for percentages", "Monitor", "pane('cycle_scale')", _TOP),
    Command("top_guides", "g", "Guides behind the curves: none, dots, lines", "Monitor", "pane('cycle_guides')", _TOP),
    Command("top_crosshair", "v", "Crosshair on all charts; left and right move it", "Monitor", "pane('crosshair')",
            _TOP),
    Command("top_zoom_in", "plus", "Zoom in on time", "Monitor", "pane('zoom_in')", _TOP),
    Command("top_zoom_out", "minus", "Zoom out", "Monitor", "pane('zoom_out')", _TOP),
    Command("top_pan_left", "left_curly_bracket", "Pan to earlier", "Monitor", "pane('pan', 'left')", _TOP),
    Command("top_pan_right", "right_curly_bracket", "Pan to later", "Monitor", "pane('pan', 'right')", _TOP),
    Command("top_zoom_reset", "equals_sign", "No zoom any more", "Monitor", "pane('reset_view')", _TOP),
    Command("top_tail", "T", "The last 10 minutes, or all that is kept", "Monitor", "tail_window", _TOP),
    Command("top_columns", "c", "Then 1–9: columns of the grid", "Monitor", "grid('columns')", _TOP, palette=False),
    Command("top_rows", "r", "Then 1–9: rows of the grid", "Monitor", "grid('rows')", _TOP, palette=False),
    Command("top_narrower", "ctrl+left,alt+left", "Border of the sidebar to the left", "Monitor", "resize('left')",
            _TOP, palette=False),
    Command("top_wider", "ctrl+right,alt+right", "Border of the sidebar to the right", "Monitor", "resize('right')",
            _TOP, palette=False),
    Command("top_sizes", "0", "Usual sizes of all", "Monitor", "digit(0)", _TOP),
)  # fmt: skip

DIGITS = tuple("56789")
"""Digits that only mean something after `c` or `r`; the others are commands too."""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(command.group for command in COMMANDS))


def in_place(place: Place) -> Iterator[Command]:
    """The commands that `place` answers, in the order of the table."""
    return (command for command in COMMANDS if place in command.where)


def bindings(place: Place) -> list[BindingType]:
    """The `BINDINGS` of the class that stands for `place`."""
    made: list[BindingType] = [
        Binding(command.keys, command.action, command.summary, show=False, priority=command.priority, id=command.id)
        for command in in_place(place)
    ]
    if place in ("run", "workspace"):
        made.extend(Binding(digit, f"digit({digit})", "Size of the grid", show=False) for digit in DIGITS)
    if place == "top":
        made.extend(Binding(digit, f"digit({digit})", "Size of the grid", show=False) for digit in "123456789")
    return made


_HINTS_FIRST = ("help", "quit", "select", "filter_runs", "filter_metrics", "next_page")


def hints(place: Place) -> list[tuple[str, str]]:
    """(key, word) pairs for the status line, the most useful first."""
    hinted = [command for command in in_place(place) if command.hint]
    hinted.sort(key=lambda c: _HINTS_FIRST.index(c.id) if c.id in _HINTS_FIRST else len(_HINTS_FIRST))
    return [(key, command.hint) for command in hinted if (key := _hinted_key(command))]


_WITH = {"media_right": "media_left"}
"""Commands whose hint names the key of another before their own."""


def _hinted_key(command: Command) -> str:
    before = next(known for known in COMMANDS if known.id == _WITH[command.id]) if command.id in _WITH else None
    keys = [next(iter(known.shown_keys()), "") for known in (before, command) if known is not None]
    return " ".join(key for key in keys if key)


def keys_in_words(name: str) -> str:
    """The first key of a command as a person reads it; where it has none, the way through the palette."""
    command = next(command for command in COMMANDS if command.id == name)
    return next(iter(command.shown_keys()), f"palette: {command.summary}")


def by_group(commands: Iterable[Command] = COMMANDS) -> dict[str, list[Command]]:
    """Group → its commands, in the order of the table."""
    grouped: dict[str, list[Command]] = {}
    for command in commands:
        grouped.setdefault(command.group, []).append(command)
    return grouped

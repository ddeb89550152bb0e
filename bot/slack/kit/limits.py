"""Slack's limits as published (docs.slack.dev: Block Kit reference, methods, rate limits). The only place for them.

Where Slack publishes none (the size of rich text), ours is marked as such.
"""

from __future__ import annotations

BLOCKS_IN_MESSAGE = 50
BLOCKS_IN_VIEW = 100
SECTION_TEXT = 3000
FIELD_TEXT = 2000
HEADER_TEXT = 150
CONTEXT_ELEMENTS = 10
ACTIONS_ELEMENTS = 25
BUTTON_TEXT = 75
BUTTON_VALUE = 2000
ACTION_ID = 255
CONFIRM_TITLE = 100
CONFIRM_TEXT = 300
CONFIRM_BUTTON = 30
BLOCK_ID = 255
ALT_TEXT = 2000
FILE_ALT_TEXT = 1000
URL = 3000
OPTIONS = 100
OPTION_TEXT = 75
OPTION_VALUE = 150
TASKS_IN_PLAN = 50

VIEW_TITLE = 24
VIEW_BUTTON = 24
PRIVATE_METADATA = 3000

MESSAGE_TEXT = 4000
"""Slack cuts a message's text at 40,000 characters and asks to stay below this."""

TRIGGER_LIVES_S = 3
ACK_WITHIN_S = 3

CALLS_PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}
"""By tier, per method and workspace. `chat.update` is tier 3; `chat.postMessage` is one a second in each channel."""
EDIT_EVERY_S = 3.0
"""Ours: a progress message changes no more often, so that several checks fit into tier 3."""

RICH_TEXT = 3000
"""Ours: characters in one rich text block."""
MESSAGE_CHARACTERS = 12_000
"""Ours: all blocks of a message, as JSON. Slack has answered `msg_blocks_too_long` from about 13,200 on, counted so
(github.com/slackapi/bolt-js/issues/2509 and 2867); the rest is for notes that come to them later."""
TASK_TITLE = 150
"""Ours: what a task card shows on one line."""

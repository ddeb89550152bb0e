"""Words that say nothing about what a message is about."""

from __future__ import annotations

_NOTHING = (
    "a about afaik after again ago ah alert all also am an and another any anybody anyone apr are as at aug "
    "azure be because been before being between btw but by came can com come comes could day days dec dev did "
    "do does doing done during each etc eus2 even evening ever every feb firing folks for friday from fyi get "
    "gets getting go goes going got group guys had has have having he hello her here hey hi his hmm hour hours "
    "how http https i id idk if imho in into is it it's its jan jul jun just keep keeps kept know knows left "
    "let lets like lol made make makes mar may me message microsoft might min minute minutes monday more "
    "morning ms must my name need needs neu new night nov now oct of off oh ok okay old on one only onto or "
    "other our out over own per please pls prod quite really reason resolved resource run said same saturday "
    "saw say says see seem seems sees sep sev sev1 sev2 shall she should show since so some somebody someone "
    "staging state status stop stuff such sunday take takes team tell tells than thank thanks that the their "
    "them then there these they thing things think this those three thursday ticket to today told tomorrow "
    "tonight too took tried tries try trying tuesday two ty type under up us use used uses using value very "
    "via vs want wants was we wednesday week weeks well went were weu what when where which while who whom "
    "whose why will with would www yesterday yet you your "
)
STOP = frozenset(_NOTHING.split())
"""Words that say nothing."""

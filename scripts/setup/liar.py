"""A model that lies: it answers every question with sentences of the passages, and among them one of each kind of lie
that a verifier must see. `scripted` serves it.

Every true sentence stands in its passage word for word, so that whatever is shown and does not is a lie that got
through.
"""

import re

MODEL = "liar"

PASSAGE = re.compile(r"^<<(\S+) (P\d+)>>\n[^\n]*\n(.*?)\n<<\1 end>>$", re.DOTALL | re.MULTILINE)
# Whole sentences in plain words, which no reader cuts or dresses otherwise than the passage does.
SENTENCE = re.compile(r"(?:^|(?<=[.] ))[A-Z][A-Za-z0-9 ,'_-]{40,200}[.](?= [A-Z]|$)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.-])[1-9]\d*(?![\w.-])")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs)\.")


def answer(prompt):
    """What the model writes to this prompt."""
    passages = {label: text for _, label, text in PASSAGE.findall(prompt)}
    said = {label: sentences(text) for label, text in passages.items()}
    written = []
    for label, found in said.items():
        if found and len(written) < 2:
            written.append(cited(found[0], label, quote(found[0])))
    for lie in (misattributed, misquoted, renumbered, uncited, marked_code):
        told = lie(said, passages)
        if told is not None:
            written.insert(len(written) // 2, told)
    return "\n\n".join(written) or "I know it, and say so without any passage."


def sentences(text):
    """The sentences of a passage that are told as they stand."""
    return [found for found in SENTENCE.findall(text) if not ABBREVIATED.search(found)]


def cited(sentence, label, words):
    return f'{sentence[:-1]} [{label}: "{words}"].'


def quote(sentence):
    return " ".join(sentence[:-1].split()[:8])


def misattributed(said, passages):
    """A passage's sentence, cited to another that does not hold it."""
    for label, found in said.items():
        for sentence in found:
            for other, text in passages.items():
                if other != label and quote(sentence) not in text:
                    return cited(sentence, other, quote(sentence))
    return None


def misquoted(said, _):
    """A made-up sentence under a made-up quote."""
    label = next(iter(said), "P1")
    return cited(
        "The elephants of the vacuum forget every snapshot on Sunday.", label, "elephants forget every snapshot"
    )


def renumbered(said, _):
    """A sentence with one of its numbers altered, under a quote that stands in the passage."""
    for label, found in said.items():
        for sentence in found:
            number = NUMBER.search(sentence)
            words = sentence[: number.start()].split() if number else []
            if len(words) >= 4:
                altered = NUMBER.sub(str(int(number.group()) + 7), sentence, count=1)
                return cited(altered, label, " ".join(words))
    return None


def uncited(said, _):
    """A paragraph that cites nothing."""
    return "Nobody has ever needed more than one index for this, whatever they were told."


def marked_code(said, _):
    """A listing that names what no passage names, with its citation inside."""
    label, found = next(((label, found) for label, found in said.items() if found), ("P1", ["It is so."]))
    return f'```sql\nSELECT pg_forget_everything(1); -- [{label}: "{quote(found[0])}"]\n```'

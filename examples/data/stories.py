#!/usr/bin/env python3
"""stories.py - writes stories.txt, on which examples/gpt.c trains: short animal stories from a grammar.

    python3 examples/data/stories.py >examples/data/stories.txt

The stories are made up here and in the public domain. They have what a small model can learn: spelling, names that
return, who speaks, and how the end follows from the beginning."""
import random
import textwrap

rng = random.Random(7)
WORDS = {
    "animal": "fox hare crow frog wolf bear mouse heron otter badger hedgehog sparrow goat donkey tortoise weasel owl snail".split(),
    "name": "Anna Bruno Clara David Emma Felix Greta Hugo Ida Jonas Kira Leo Mila Nora Oskar Paula Quentin Rosa Simon Tilda".split(),
    "place": ["the river", "the old mill", "the edge of the forest", "the market", "the stone bridge", "a field of barley", "the well",
              "the orchard", "a narrow path in the hills", "the sea", "the garden wall", "a hollow oak"],
    "thing": "lantern basket rope ladder key bell kettle mirror feather button spoon map blanket wheel".split(),
    "food": ["an apple", "a piece of cheese", "a pot of honey", "some bread", "a handful of nuts", "three pears", "a bowl of soup"],
    "adjective": "small old proud clever patient lazy brave quiet hungry careful tired cheerful young".split(),
    "time": ["One morning", "One evening", "In the spring", "When the first snow fell", "After a long rain", "On a hot day",
             "Before the harvest", "Late in the year", "On a windy night", "At noon"],
    "weather": ["The sun was shining.", "It began to rain.", "A cold wind came from the north.", "There was fog over the fields.",
                "The moon was bright.", "Not a leaf was moving.", "The road was covered with ice."],
    "said": "said whispered called replied".split(),
    "work": ["carry the water", "mend the roof", "count the stars", "build a bridge", "find the way home", "light the fire",
             "climb the hill", "cross the water", "open the gate", "guard the house"],
    "lesson": ["Who shares a little has enough.", "A slow step is still a step.", "It is better to ask twice than to be lost once.",
               "What is promised must be kept.", "Two can carry what one cannot lift.", "A loud voice does not make a strong hand.",
               "Whoever listens learns.", "Not everything that shines is worth the way.", "Patience opens more doors than force."],
}
FORMS = {
    "helps": ["{A} could not {work} alone. {B} saw it, put down {food}, and came to help.",
              "For a whole day {A} tried to {work}. Then {B} came along and showed how it is done.",
              "\"I will never {work},\" {said} {A}. \"Not today, perhaps,\" {said} {B}, \"but with the {thing} we can.\""],
    "asks": ["\"May I have your {thing}?\" {said} {B}. \"You may,\" {said} {A}, \"if you bring me {food}.\"",
             "\"What are you doing at {place}?\" asked {B}. \"I am looking for my {thing},\" answered {A}.",
             "{B} wanted to know where the {thing} was. {A} pointed to {place} and {said}: \"Go there, but go slowly.\"",
             "\"How far is it to {place}?\" asked {B}. \"As far as it is back,\" answered {A}."],
    "moves": ["So they went together to {place}. {weather}", "{B} ran ahead, and {A} followed with the {thing}. {weather}",
              "They walked until they came to {place}, where they found {food}.",
              "{weather} {A} stayed at {place}, but {B} went on.", "At {place} they stopped and ate {food}."],
    "end": ["In the end {A} had the {thing}, and {B} had {food}, and both were content. {lesson}",
            "When {B} came back, {A} was asleep, and the {thing} was gone. {lesson}",
            "Since then {A} and {B} meet every year at {place}. {lesson}",
            "\"Now I understand,\" {said} {A}. And {B} {said}: \"{lesson}\"",
            "They gave the {thing} back and went home. {lesson}"],
    "start": ["{time} a {adjective} {animal} named {A} was sitting near {place} with a {thing}. {weather}",
              "There was once a {animal} who was called {A} and lived by {place}. {time} came {B}, a {adjective} {other}.",
              "{A}, the {adjective} {animal}, had lost a {thing}. {time} {A} met {B}, the {other}, at {place}.",
              "{time} {A} the {animal} and {B} the {other} met at {place}. {A} was {adjective}. {B} had {food}."],
}


def pick(items):
    return items[int(rng.random() * len(items))]


def fill(form, hero):
    while "{" in form:
        at = form.index("{")
        end = form.index("}", at)
        key = form[at + 1:end]
        word = hero[key] if key in hero else pick(WORDS[key])
        before = form[:at]
        if word[0] in "aeiou" and before.endswith((" a ", "A ")):
            before = before[:-1] + "n "
        form = before + word + form[end + 1:]
    return form[0].upper() + form[1:]


def story():
    hero = {"A": pick(WORDS["name"]), "animal": pick(WORDS["animal"]), "other": pick(WORDS["animal"]), "thing": pick(WORDS["thing"])}
    hero["B"] = pick([n for n in WORDS["name"] if n != hero["A"]])
    middle = [form for kind in ("helps", "asks", "moves") for form in FORMS[kind]]
    told = [fill(pick(FORMS["start"]), hero)]
    for _ in range(2 + int(rng.random() * 4)): # no form twice in a story
        told.append(fill(middle.pop(int(rng.random() * len(middle))), hero))
    told.append(fill(pick(FORMS["end"]), hero))
    title = f"{hero['A']} and the {hero['thing']}"
    return title + "\n\n" + "\n".join(textwrap.wrap(" ".join(told), 78)) + "\n\n"


print("".join(story() for _ in range(360)).rstrip())

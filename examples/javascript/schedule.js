// A schedule of talks. One speaker cancelled, and the room is still looked up.
"use strict";

const talks = [
  { title: "Borrowing", speaker: { name: "Ada", room: "A1" } },
  { title: "Lending", speaker: null },
];

function roomOf(talk) {
  return talk.speaker.room; // BUG
}

function print(schedule) {
  for (const talk of schedule) {
    const room = roomOf(talk);
    console.log(`${talk.title}: ${room}`);
  }
}

print(talks);

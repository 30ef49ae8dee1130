"""Section "one step" of the CUBE page in plain Python, written from its text alone: sets and dictionaries, slow."""

from __future__ import annotations

from dataclasses import dataclass, field

VECTORS = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}


@dataclass
class ReferenceWorld:
    side: int
    agents: list[tuple[int, int]]
    blocks: dict[int, tuple[int, int, int]]  # id -> weight, row, col; delivered ones are gone
    pushes: list[tuple] = field(default_factory=list)
    failed_moves: list[tuple] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)

    def cells(self, block):
        weight, row, col = self.blocks[block]
        return {(row + i, col + j) for i in range(weight) for j in range(weight)}

    def ahead(self, cells, direction):
        d_row, d_col = VECTORS[direction]
        return {(r + d_row, c + d_col) for r, c in cells} - cells

    def inside(self, cell):
        return 0 <= cell[0] < self.side and 0 <= cell[1] < self.side

    def step(self, actions):
        self.pushes, self.failed_moves, self.delivered = [], [], []
        moved_agents, displaced_blocks = set(), set()
        for direction in (1, 2, 3, 4):
            for block in sorted(self.blocks):
                if block in self.blocks and block not in displaced_blocks:
                    self.push(block, direction, actions, moved_agents, displaced_blocks)
        self.walk(actions, moved_agents)

    def push(self, block, direction, actions, moved_agents, displaced_blocks):
        d_row, d_col = VECTORS[direction]
        behind = {1: 2, 2: 1, 3: 4, 4: 3}[direction]
        at = {cell: i for i, cell in enumerate(self.agents)}
        pushers = set()
        for face_cell in self.ahead(self.cells(block), behind):
            cell = face_cell
            while cell in at and actions[at[cell]] == direction and at[cell] not in moved_agents:
                pushers.add(at[cell])
                cell = (cell[0] - d_row, cell[1] - d_col)
        if not pushers:
            return
        owner = {cell: b for b in self.blocks for cell in self.cells(b)}
        chain, reasons = {block}, set()
        while True:
            body = set().union(*(self.cells(b) for b in chain))
            swept = self.ahead(body, direction)
            joining = set()
            for cell in swept:
                if not self.inside(cell):
                    reasons.add("wall")
                elif cell in at:
                    reasons.add("agent")
                elif cell in owner:
                    if owner[cell] in displaced_blocks:
                        reasons.add("block")
                    else:
                        joining.add(owner[cell])
            if not joining:
                break
            chain |= joining
        required = sum(self.blocks[b][0] for b in chain)
        if len(pushers) < required:
            reasons.add("force")
        outcome = next((reason for reason in ("wall", "agent", "block", "force") if reason in reasons), "moved")
        if outcome == "moved":
            for b in chain:
                weight, row, col = self.blocks[b]
                self.blocks[b] = (weight, row + d_row, col + d_col)
            for i in pushers:
                self.agents[i] = (self.agents[i][0] + d_row, self.agents[i][1] + d_col)
            displaced_blocks |= chain
            moved_agents |= pushers
            for b in sorted(chain):
                if any(col == self.side - 1 for _, col in self.cells(b)):
                    del self.blocks[b]
                    self.delivered.append(b)
                    outcome = "delivered"
        self.pushes.append((block, direction, tuple(sorted(pushers)), len(pushers), required, outcome))

    def walk(self, actions, moved_agents):
        before = set(self.agents)
        solid = set().union(*(self.cells(b) for b in self.blocks)) if self.blocks else set()
        claimed = set()
        for i, action in enumerate(actions):
            if action == 0 or i in moved_agents:
                continue
            target = (self.agents[i][0] + VECTORS[action][0], self.agents[i][1] + VECTORS[action][1])
            if not self.inside(target):
                self.failed_moves.append((i, action, "wall"))
            elif target in solid:
                self.failed_moves.append((i, action, "block"))
            elif target in before:
                self.failed_moves.append((i, action, "agent"))
            elif target in claimed:
                self.failed_moves.append((i, action, "race"))
            else:
                claimed.add(target)
                self.agents[i] = target

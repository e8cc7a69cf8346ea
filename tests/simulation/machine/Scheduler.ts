/** Owns everything that is pending in a schedule, and decides what happens next. */
import type { SeededRandom } from '../SeededRandom';
import type { Pace } from './MachinePlan';

/** With it dies whatever is pending in it. */
export interface ActionOwner {
  readonly isDead: boolean;
}

interface Action {
  readonly pace: Pace;
  /** Undefined: the action is nobody's, such as a request on its way. */
  readonly owner: ActionOwner | undefined;
  readonly perform: () => void;
}

/** How likely it is that an action of a slow pace waits for others. */
const PATIENCE = 0.9;
/** How often another action is chosen in place of a slow one. */
const CHOICES = 4;

export class Scheduler {
  private readonly pending: Action[] = [];
  private readonly random: SeededRandom;
  private readonly slow: readonly Pace[];

  constructor(random: SeededRandom, slow: readonly Pace[]) {
    this.random = random;
    this.slow = slow;
  }

  get isEmpty(): boolean {
    return this.pending.length === 0;
  }

  add(pace: Pace, owner: ActionOwner | undefined, perform: () => void): void {
    this.pending.push({ pace, owner, perform });
  }

  /** @returns false if nothing was pending */
  step(): boolean {
    const { pending, random } = this;
    for (let choice = 0; pending.length > 0;) {
      const place = pending.length === 1 ? 0 : random.below(pending.length);
      const action = pending[place]!;
      const isDropped = action.owner?.isDead === true;
      if (!isDropped && choice < CHOICES && this.slow.includes(action.pace) && random.chance(PATIENCE)) {
        choice += 1;
        continue;
      }
      const last = pending.pop()!;
      if (last !== action) pending[place] = last;
      if (isDropped) continue;
      action.perform();
      return true;
    }
    return false;
  }
}

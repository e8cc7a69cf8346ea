/** A process as its run sees it, and as its surroundings do. */

export interface ProcessState {
  readonly name: string;
  readonly isDead: boolean;
  readonly isDraining: boolean;
  /** It cannot reach the store. */
  readonly isCut: boolean;
  /** How often it could not. */
  readonly cuts: number;
  /** How often it could not when it claimed the run. */
  readonly claimedAtCuts: number;
}

export class SimulatedProcess<S extends { readonly isOver: boolean }> implements ProcessState {
  readonly name: string;
  readonly slot: number;
  isDead = false;
  isDraining = false;
  isCut = false;
  cuts = 0;
  claimedAtCuts = 0;
  session: S | undefined;
  /** It has claimed the run, and not begun yet. */
  isLaunching = false;

  constructor(name: string, slot: number) {
    this.name = name;
    this.slot = slot;
  }

  get hasRun(): boolean {
    return !this.isDead && (this.isLaunching || this.session?.isOver === false);
  }

  get isFree(): boolean {
    return !this.isDead && !this.isDraining && !this.isCut && !this.hasRun;
  }
}

/**
 * ddp-server's write fence. Every write that is begun in a method's async context joins the method's fence, and so does
 * every observer that such a write invalidates, until the fence fires: when the method has returned and nothing is
 * outstanding. Only then does the client receive `updated`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A write as it joined a fence: `insert ai_runs`. */
export type FencedWrite = `${'insert' | 'update' | 'remove'} ${string}`;

export class WriteFence {
  /** The method that the fence belongs to. */
  readonly method: string;
  /** The writes that joined, in order. */
  readonly writes: FencedWrite[] = [];
  /** The writes in the method's context after the fence had fired. Meteor lets them pass; the method has ended. */
  readonly lateWrites: FencedWrite[] = [];
  private readonly onFired: () => void;
  private outstanding = 0;
  private isArmed = false;
  private hasFired = false;

  constructor(method: string, onFired: () => void) {
    this.method = method;
    this.onFired = onFired;
  }

  /** @returns to be called when the write, and every observer that it invalidates, has joined or finished */
  beginWrite(write: FencedWrite): () => void {
    // Meteor retires a fence that has fired: later writes in the same context don't join it.
    (this.hasFired ? this.lateWrites : this.writes).push(write);
    return this.begin();
  }

  /** @returns to be called when the observer has sent what the write changed */
  beginObserver(): () => void {
    return this.begin();
  }

  /** The method has returned. */
  arm(): void {
    this.isArmed = true;
    this.fireWhenDone();
  }

  private begin(): () => void {
    if (this.hasFired) return () => undefined;
    this.outstanding += 1;
    let isCommitted = false;
    return () => {
      if (isCommitted) throw new Error('committed called twice on the same write');
      isCommitted = true;
      this.outstanding -= 1;
      this.fireWhenDone();
    };
  }

  private fireWhenDone(): void {
    if (!this.isArmed || this.hasFired || this.outstanding > 0) return;
    this.hasFired = true;
    this.onFired();
  }
}

/** DDPServer._CurrentWriteFence. */
export const currentFence = new AsyncLocalStorage<WriteFence | undefined>();

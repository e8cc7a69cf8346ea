/** A decision in the making: the state that follows, and what is to be done. */
import { applyToolEvent, createToolCall, isDeliverable, isSettled, waitOf } from '../entities/Tool';
import type { ToolCall, ToolEvent } from '../entities/Tool';
import { transitionRun } from '../entities/Run';
import type { RunState } from '../entities/Run';
import type { AgentEventBody } from '../types/AgentEvents';
import type { Item } from '../types/ResponsesAPITypes';
import type { Writable } from '../types/Writable';
import { freezeDeep } from '../util/freezeDeep';
import { callOf, transcriptOf } from './ActiveRun';
import type { ActiveRun, TurnCall } from './ActiveRun';
import { isPublished } from './RunEffect';
import type { RunEffect } from './RunEffect';

export interface Decision {
  readonly state: ActiveRun;
  readonly effects: readonly RunEffect[];
}

/** Names of tools beyond these are not listed. */
export const MAX_LISTED_TOOLS = 64;

export class RunDraft {
  readonly next: Writable<ActiveRun>;
  private readonly effects: RunEffect[] = [];
  private isSaved = false;

  constructor(state: ActiveRun) {
    this.next = { ...state };
  }

  get decision(): Decision {
    return { state: this.next, effects: this.effects };
  }

  then(effect: RunEffect): void {
    this.effects.push(effect);
  }

  save(): void {
    if (this.isSaved || !this.next.rules.isStored) return;
    this.isSaved = true;
    this.then({ type: 'save' });
  }

  publish(body: AgentEventBody, call?: ToolCall): void {
    const seq = this.number();
    this.effects.push(call === undefined ? { type: 'publish', seq, body } : { type: 'publish', seq, body, call });
  }

  transition(to: RunState): void {
    if (this.next.status !== to) this.next.status = transitionRun(this.next.status, to);
  }

  call(id: string): ToolCall {
    return callOf(this.next, id);
  }

  append(items: readonly Item[]): void {
    for (const item of items) freezeDeep(item);
    this.next.transcript = transcriptOf(this.next).concat(items);
  }

  /** Records a call of this turn as pending. */
  recordCall({ id, call_id, name, arguments: text }: TurnCall, createdAt: number): ToolCall {
    const blocking = this.next.rules.tools.get(name)?.blocking ?? true;
    const call = createToolCall({ id, call_id, name, arguments: text, blocking, createdAt });
    this.setCall(call);
    this.publish({ type: 'tool:pending', callId: id, call_id, name, arguments: text, blocking }, call);
    return call;
  }

  /**
   * Applies an event to a call. If an acknowledged call settles, its result becomes a late result.
   * @returns whether it has settled with this event
   */
  applyToolEvent(id: string, event: ToolEvent): boolean {
    const { next } = this;
    const before = this.call(id);
    const call = applyToolEvent(before, event);
    this.setCall(call);
    if (call !== before && isPublished(event))
      this.effects.push({ type: 'publishCall', seq: this.number(), call, event });
    const isWritten = next.rules.durability === 'step' || waitOf(call) !== undefined;
    if (isWritten && event.type !== 'tool:progress') this.save();
    if (isSettled(before) || !isSettled(call)) return false;
    if (isDeliverable(call) && next.acknowledged.includes(id)) {
      next.lateResults = [...next.lateResults, id];
      this.publish({ type: 'result:arrived', callId: id, name: call.name, state: call.state }, call);
    }
    return true;
  }

  private setCall(call: ToolCall): void {
    this.next.calls = this.next.calls.with(call);
    const { toolNames } = this.next;
    if (toolNames.length < MAX_LISTED_TOOLS && !toolNames.includes(call.name))
      this.next.toolNames = [...toolNames, call.name];
  }

  private number(): number {
    this.next.seq += 1;
    return this.next.seq;
  }
}

/** Charges a stream before its last event is passed on, and when it fails or its consumer leaves. */
import type { EventBatch, EventBatches } from '../../ai/domain/events/EventBatches';
import type { EventStream } from '../../ai/domain/events/EventStream';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../../ai/domain/types/ResponsesAPITypes';
import { PartialUsage } from '../../ai/application/services/routing/estimateUsage';
import type { MeteredCall } from './MeteredCall';

export interface BudgetedEventsPorts {
  readonly options: GenerateOptions;
  /** Tokens of the conversation at the vendor that the call continues, if they are known. */
  readonly continuedTokens: number | undefined;
  readonly onResponse: (response: LLMResponse) => void;
}

export class BudgetedEvents implements EventBatches {
  private readonly events: EventStream;
  private readonly call: MeteredCall;
  private readonly ports: BudgetedEventsPorts;
  private readonly partialUsage = new PartialUsage();
  private hasStarted = false;
  private isSettled = false;
  private held: EventBatch | undefined;

  constructor(events: EventStream, call: MeteredCall, ports: BudgetedEventsPorts) {
    this.events = events;
    this.call = call;
    this.ports = ports;
  }

  async read(): Promise<EventBatch | undefined> {
    try {
      const batch = this.held ?? (await this.events.read());
      this.held = undefined;
      if (batch === undefined) await this.settle(() => this.call.settle(this.partial()));
      return batch && (await this.charged(batch));
    } catch (error) {
      await this.settle(() => this.call.fail(error, this.hasStarted ? this.partial() : undefined));
      throw error;
    }
  }

  /** A consumer that leaves early has still received, and caused, the output so far. */
  async close(): Promise<void> {
    try {
      await this.events.close();
    } finally {
      await this.settle(() => this.call.leave(this.partial()));
    }
  }

  /** Events must not wait until the response behind them is charged, so it is held back for the next read. */
  private async charged(batch: EventBatch): Promise<EventBatch> {
    const end = batch.findIndex(({ type }) => type === 'response.completed');
    const completed = batch[end];
    if (completed?.type === 'response.completed' && end === 0) {
      this.ports.onResponse(completed.response);
      await this.settle(() => this.call.settleResponse(completed.response));
    }
    if (end > 0) this.held = batch.slice(end);
    const passed = end > 0 ? batch.slice(0, end) : batch;
    this.hasStarted = true;
    for (const event of passed) this.partialUsage.add(event);
    return passed;
  }

  private async settle(charge: () => Promise<void>): Promise<void> {
    if (this.isSettled) return;
    await charge();
    this.isSettled = true;
  }

  private partial(): Usage {
    return this.partialUsage.estimate(this.ports.options, this.ports.continuedTokens);
  }
}

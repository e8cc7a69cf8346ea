/**
 * Decodes a stream of the Interactions API to domain events. The assembled interaction is converted like one without
 * streaming. https://ai.google.dev/gemini-api/docs/interactions/streaming
 */
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isList, isObject } from '../../../../domain/util/json';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';
import type { ResponseContext, SseMessage, StreamDecoder } from '../../Wire';
import type { InteractionStep } from '../interactionsTypes';
import { errorDetails, fromInteractions, idOf, modelOf, originOf, parseInteraction } from '../response/response';
import { usageOf } from '../usage';
import { StepAssembly } from './StepAssembly';
import { StepEvents } from './StepEvents';

interface OpenStep {
  readonly assembly: StepAssembly;
  readonly events: StepEvents;
}

export class InteractionsDecoder implements StreamDecoder {
  private readonly context: ResponseContext;
  private interaction: JsonObject | undefined;
  private origin: Origin;
  /** By index. A stream may interleave steps. */
  private readonly steps = new Map<number, OpenStep>();
  private readonly argumentTexts = new Map<InteractionStep, string>();
  private readonly open = new Set<number>();
  private nextIndex = 0;
  private isCompleted = false;

  constructor(context: ResponseContext) {
    this.context = context;
    this.origin = originOf({}, context);
  }

  push({ data }: SseMessage, out: ResponseStreamEvent[]): void {
    if (this.isCompleted || data === '[DONE]') return;
    const event = this.parse(data);
    switch (event.event_type) {
      case 'interaction.created':
        this.create(event, out);
        return;
      case 'interaction.status_update':
        if (isObject(event.usage)) out.push({ type: 'response.usage', usage: usageOf(event.usage, []) });
        return;
      case 'step.start':
        this.start(event, out);
        return;
      case 'step.delta':
        this.addDelta(event, out);
        return;
      case 'step.stop':
        this.stop(indexOf(event, this.context), out);
        return;
      case 'interaction.completed':
        this.complete(event, out);
        return;
      case 'error':
        throw vendorError({ ...errorDetails(this.context), body: event });
      case undefined:
        // An error in place of a stream, or an interaction that is complete at once.
        this.complete({ interaction: parseInteraction(event, this.context) }, out);
        return;
      default:
        out.push({ type: 'vendor.event', origin: this.origin, raw: event });
    }
  }

  end(): void {
    if (this.isCompleted) return;
    throw new LLMStreamError(
      'The stream ended without interaction.completed, so the response is incomplete.',
      errorDetails(this.context),
    );
  }

  private takeIndex(): number {
    this.nextIndex += 1;
    return this.nextIndex - 1;
  }

  private parse(data: string): JsonObject {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch (cause) {
      throw new LLMStreamError('The stream contains an event that is not JSON.', {
        ...errorDetails(this.context),
        cause,
      });
    }
    if (isObject(event)) return event;
    throw new LLMStreamError('The stream contains an event that is not a JSON object.', errorDetails(this.context));
  }

  private create({ interaction }: JsonObject, out: ResponseStreamEvent[]): void {
    if (this.interaction !== undefined || !isObject(interaction)) return;
    this.interaction = interaction;
    this.origin = originOf(interaction, this.context);
    const { context } = this;
    out.push({ type: 'response.created', id: idOf(interaction, context), model: modelOf(interaction, context) });
  }

  private start(event: JsonObject, out: ResponseStreamEvent[]): void {
    const { step } = event;
    if (!isObject(step)) throw new LLMStreamError('A step.start event has no step.', errorDetails(this.context));
    const index = indexOf(event, this.context);
    const assembly = new StepAssembly(step);
    const events = new StepEvents(assembly, { origin: this.origin }, () => this.takeIndex());
    this.steps.set(index, { assembly, events });
    this.open.add(index);
    events.start(out);
  }

  private addDelta(event: JsonObject, out: ResponseStreamEvent[]): void {
    const { delta, metadata } = event;
    const index = indexOf(event, this.context);
    const step = this.open.has(index) ? this.steps.get(index) : undefined;
    if (step === undefined || !isObject(delta))
      throw new LLMStreamError(
        `The stream sent a delta of step ${index}, which is not open.`,
        errorDetails(this.context),
      );
    step.assembly.add(delta);
    step.events.add(delta, out);
    if (this.context.streamArguments === true) step.events.addArguments(delta, out);
    if (isObject(metadata) && isObject(metadata.total_usage))
      out.push({ type: 'response.usage', usage: usageOf(metadata.total_usage, []) });
  }

  private stop(index: number, out: ResponseStreamEvent[]): void {
    const step = this.steps.get(index);
    if (step === undefined || !this.open.delete(index)) return;
    const finished = step.assembly.finish();
    const { argumentText } = step.assembly;
    if (argumentText !== undefined && argumentText.trim() !== '') this.argumentTexts.set(finished, argumentText);
    step.events.stop(finished, { origin: this.origin, argumentTexts: this.argumentTexts }, out);
  }

  private complete({ interaction }: JsonObject, out: ResponseStreamEvent[]): void {
    if (!isObject(interaction))
      throw new LLMStreamError('An interaction.completed event has no interaction.', errorDetails(this.context));
    this.create({ interaction }, out);
    // A step that the limit has cut off is not stopped.
    for (const index of [...this.open]) this.stop(index, out);
    const streamed = [...this.steps].sort(([one], [other]) => one - other).map(([, { assembly }]) => assembly.step);
    const steps = streamed.length > 0 || !isList(interaction.steps) ? streamed : interaction.steps;
    const whole = { ...this.interaction, ...interaction, steps };
    const response = fromInteractions(whole, this.context, this.argumentTexts);
    // Steps that came only with the end.
    response.output.slice(this.nextIndex).forEach((item, at) => {
      const output_index = this.nextIndex + at;
      out.push({ type: 'response.output_item.added', output_index, item });
      if (item.type === 'function_call') out.push({ type: 'response.tool_use.done', output_index, item });
      out.push({ type: 'response.output_item.done', output_index, item });
    });
    out.push({ type: 'response.usage', usage: response.usage }, { type: 'response.completed', response });
    this.isCompleted = true;
  }
}

function indexOf({ index }: JsonObject, context: ResponseContext): number {
  if (typeof index === 'number') return index;
  throw new LLMStreamError('An event of a step has no index.', errorDetails(context));
}

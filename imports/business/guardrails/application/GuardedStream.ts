/** Filters the texts of a stream while they arrive. Events that cannot be checked are left out. */
import type { OutputItem } from '../../ai/domain/types/ResponsesAPITypes';
import type { LLMResponse } from '../../ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent, TextDelta } from '../../ai/domain/types/StreamEvents';
import type { ChainedFilter, GuardedCall, GuardrailChain } from './GuardrailChain';
import { mapStrings } from './mapStrings';
import type { ResponseTexts } from './ResponseTexts';

/** A text that is still arriving. */
interface OpenText {
  readonly key: string;
  /** The last event of the text. What is sent on replaces its delta. */
  event: TextDelta;
  readonly filter: ChainedFilter;
  readonly arrived: string[];
  readonly passed: string[];
}

export class GuardedStream {
  private readonly texts: ResponseTexts;
  private readonly chain: GuardrailChain;
  private readonly call: GuardedCall;
  private readonly finish: (response: LLMResponse) => LLMResponse;
  private open: OpenText | undefined;

  /** @param finish completes the response that the stream ends with */
  constructor(
    texts: ResponseTexts,
    chain: GuardrailChain,
    call: GuardedCall,
    finish: (response: LLMResponse) => LLMResponse,
  ) {
    this.texts = texts;
    this.chain = chain;
    this.call = call;
    this.finish = finish;
  }

  /** @throws GuardrailError */
  async *pass(event: ResponseStreamEvent): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning.delta':
        yield* this.passText(event);
        return;
      case 'response.output_item.added':
        // Other items are sent when they are complete.
        if (hasDeltas(event.item)) yield { ...event, item: withoutContent(event.item) };
        return;
      case 'response.output_item.done': {
        yield* this.closeText();
        const item = await this.texts.filterItem(event.item);
        if (!hasDeltas(item)) yield { type: 'response.output_item.added', output_index: event.output_index, item };
        yield { ...event, item };
        return;
      }
      // Arguments are checked when they are complete.
      case 'response.tool_use.delta':
        if (!this.chain.filtersText) yield event;
        return;
      case 'response.tool_use.done': {
        const item = await this.texts.filterItem(event.item);
        // An item keeps its type.
        if (item.type === 'function_call') yield { ...event, item };
        return;
      }
      case 'response.annotation.added':
        yield { ...event, annotation: await this.filterValue(event.annotation) };
        return;
      case 'response.completed': {
        yield* this.closeText();
        const filtered = await this.texts.filterResponse(event.response);
        yield { ...event, response: this.finish(await this.chain.after(filtered, this.call, true)) };
        return;
      }
      case 'response.failed': {
        yield* this.closeText();
        const { error, response } = event;
        if (error.response !== undefined) error.response = await this.texts.filterResponse(error.response);
        yield response === undefined ? event : { ...event, response: await this.texts.filterResponse(response) };
        return;
      }
      // What they contain is not known, and may be text in pieces.
      case 'vendor.event':
      case 'wire.message':
        return;
      default:
        yield event;
    }
  }

  private async *passText(event: TextDelta): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    if (!this.chain.filtersText) {
      yield event;
      return;
    }
    const key = keyOf(event);
    if (this.open?.key !== key) {
      yield* this.closeText();
      this.open = { key, event, filter: this.chain.openText(this.call), arrived: [], passed: [] };
    }
    const { open } = this;
    open.event = event;
    open.arrived.push(event.delta);
    const delta = await open.filter.push(event.delta);
    if (delta === '') return;
    open.passed.push(delta);
    yield { ...event, delta };
  }

  /** Sends what was held back. */
  private async *closeText(): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const rest = await open.filter.end();
    if (rest !== '') yield { ...open.event, delta: rest };
    this.texts.remember(open.arrived.join(''), open.passed.join('') + rest);
  }

  private async filterValue<T>(value: T): Promise<T> {
    return this.chain.filtersText ? mapStrings(value, this.texts.filterText) : value;
  }
}

function keyOf(event: TextDelta): string {
  const isSummary = event.type === 'response.reasoning.delta' && event.summary;
  return [event.type, event.output_index, event.content_index ?? 0, isSummary].join(' ');
}

function hasDeltas(item: OutputItem): boolean {
  return item.type === 'message' || item.type === 'reasoning' || item.type === 'function_call';
}

/** Removes the content of an item, which follows in events of its own. */
function withoutContent(item: OutputItem): OutputItem {
  switch (item.type) {
    case 'message':
      return { ...item, content: [] };
    case 'reasoning': {
      const { content, encrypted_content, ...rest } = item;
      return { ...rest, summary: [] };
    }
    case 'function_call':
      return { ...item, arguments: '' };
    default:
      return item;
  }
}

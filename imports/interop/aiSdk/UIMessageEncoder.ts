/**
 * Encodes the events of one run as chunks of the AI SDK's UI message stream: one assistant message with a step for each
 * model call. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import { toolCalls } from '../../business/ai/domain/entities/Response';
import type { AgentEvent, AgentEventOf, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { LLMResponse, Usage } from '../../business/ai/domain/types/ResponsesAPITypes';
import { unreachable } from '../../business/ai/domain/util/unreachable';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { NestedUIMessage } from './NestedUIMessage';
import { blocksOf, filesOf, opaqueOutput, sourcesOf } from './outputParts';
import type { TextBlock } from './outputParts';
import { UIAskedCalls } from './UIAskedCalls';
import { OUTPUT_PART } from './UIMessages';
import type { FinishReason, MessageMetadata, UIMessageChunk } from './UIMessages';
import { UIToolCalls } from './UIToolCalls';
import { userParts } from './userParts';

export interface UIMessageEncoderOptions {
  /** Default: the run's execution id and, for a stream that begins with a message to the run, its id after a `#`. */
  readonly messageId?: string;
  /** Whether reasoning is part of the message. Default: true. */
  readonly sendReasoning?: boolean;
  /** Metadata that is added to the message's at its start. */
  readonly messageMetadata?: object;
  /**
   * Whether the client may supply the results of the tool's calls, also where it is a run below that makes them.
   * Default: it is told nothing of such calls below.
   */
  readonly isExternal?: (toolName: string) => boolean;
  /** Whether a message that the run was sent is answered by another message. Default: none is. */
  readonly endsBefore?: (messageId: string) => boolean;
}

interface OpenBlock extends TextBlock {
  readonly id: string;
}

export class UIMessageEncoder {
  private readonly options: UIMessageEncoderOptions;
  private chunks: UIMessageChunk[] = [];
  private hasStarted = false;
  private hasEnded = false;
  /** The text of the model call in progress; undefined while there is none. */
  private blocks: OpenBlock[] | undefined;
  /** Calls whose arguments the model is writing. */
  private readonly startedCalls = new Set<string>();
  private hasStep = false;
  private blockCount = 0;
  private sourceCount = 0;
  private readonly calls = new UIToolCalls();
  /** Messages of runs that calls have started, by call. */
  private readonly nested = new Map<string, NestedUIMessage>();
  private readonly isNested: boolean;
  private readonly askedCalls: UIAskedCalls;
  /** What people are asked while the model is called, which may begin its step anew. */
  private asked: UIMessageChunk[] = [];

  /** @param isNested the message is within another one, where people are asked */
  constructor(options: UIMessageEncoderOptions = {}, isNested = false) {
    this.options = options;
    this.isNested = isNested;
    this.askedCalls = new UIAskedCalls(options.isExternal ?? (() => false));
  }

  push(event: FamilyEvent): readonly UIMessageChunk[] {
    if (this.hasEnded) return [];
    const [step, ...path] = event.path ?? [];
    if (step !== undefined) return this.pushNested(step.callId, { ...event, path });
    const isFirst = !this.hasStarted;
    if (isFirst) this.start(event);
    // The message that it begins with is the user's.
    if (!isFirst || event.type !== 'message:delivered') this.encode(event);
    this.ask(event, false);
    return this.take();
  }

  private pushNested(toolCallId: string, event: FamilyEvent): readonly UIMessageChunk[] {
    if (!this.calls.isOpen(toolCallId)) return [];
    let message = this.nested.get(toolCallId);
    if (message === undefined) {
      const { sendReasoning } = this.options;
      message = new NestedUIMessage(new UIMessageEncoder(omitUndefined({ sendReasoning }), true));
      this.nested.set(toolCallId, message);
    }
    const isDue = message.push(event);
    this.ask(event, true);
    if (isDue)
      this.chunks.push({ type: 'tool-output-available', toolCallId, output: message.current, preliminary: true });
    return this.take();
  }

  private ask(event: FamilyEvent, isBelow: boolean): void {
    if (!this.isNested && 'callId' in event) this.asked.push(...this.askedCalls.push(event, isBelow));
  }

  /** See `RunEventEncoder.end`. */
  end(): readonly UIMessageChunk[] {
    if (!this.hasEnded) {
      this.finishStep();
      this.finish('tool-calls', {});
    }
    return this.take();
  }

  /** @param errorText shown to the user */
  fail(errorText: string): readonly UIMessageChunk[] {
    this.closeBlock();
    this.hasEnded = true;
    this.chunks.push({ type: 'error', errorText });
    return this.take();
  }

  private take(): readonly UIMessageChunk[] {
    const { chunks } = this;
    this.chunks = [];
    if (this.blocks === undefined && !this.hasEnded) chunks.push(...this.asked.splice(0));
    return chunks;
  }

  private start(event: AgentEvent): void {
    const { executionId } = event;
    this.hasStarted = true;
    const id = event.type === 'message:delivered' ? `${executionId}#${event.messageId}` : executionId;
    const { messageId = id, messageMetadata } = this.options;
    this.chunks.push({ type: 'start', messageId, messageMetadata: { executionId, ...messageMetadata } });
  }

  private encode(event: AgentEvent): void {
    switch (event.type) {
      case 'iteration:start':
        this.startStep();
        break;
      case 'llm:delta':
        this.addText(event.kind === 'reasoning' ? 'reasoning' : 'text', event.delta);
        break;
      case 'tool:arguments_delta':
        this.addArguments(event);
        break;
      case 'llm:retry':
        this.resetStep();
        break;
      case 'llm:interrupted':
        // What was streamed stays.
        if (event.item !== undefined && this.blocks?.length === 0)
          for (const { kind, text } of blocksOf([event.item])) this.addText(kind, text);
        this.finishStep();
        break;
      case 'message:delivered':
        this.finishStep();
        if (this.options.endsBefore?.(event.messageId) === true) this.finish('stop', {});
        else this.chunks.push({ type: 'steering-message', id: event.messageId, parts: userParts(event.item) });
        break;
      case 'llm:response':
        this.completeStep(event.response);
        break;
      case 'run:completed':
        this.finishStep();
        this.finish(finishReasonOf(event.response), {
          model: event.response.model,
          usage: usageOf(event.usage),
          iterations: event.iterations,
        });
        break;
      case 'run:failed':
        this.endEarly(event.usage, { type: 'error', errorText: event.error.message });
        break;
      case 'run:cancelled':
        this.endEarly(event.usage, { type: 'abort', reason: 'The run was cancelled.' });
        break;
      case 'result:arrived':
        this.chunks.push({
          type: 'data-tool-result',
          id: event.callId,
          data: { toolCallId: event.callId, toolName: event.name, state: event.state },
        });
        break;
      // The parts of calls, what people are asked and the next step show these.
      case 'run:started':
      case 'run:parked':
      case 'run:awaiting_tools':
      case 'history:compacted':
      case 'tool:late':
      case 'tool:input_required':
      case 'tool:input_received':
      case 'nonblocking:result':
      case 'nonblocking:llm_response':
      case 'nonblocking:error':
        break;
      case 'tool:completed': {
        const output = this.nested.get(event.callId)?.complete(event.result);
        this.chunks.push(...this.calls.push(event, output));
        break;
      }
      case 'tool:pending':
      case 'tool:approval_required':
      case 'tool:executing':
      case 'tool:needs_review':
      case 'tool:progress':
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        this.chunks.push(...this.calls.push(event));
        break;
      default:
        unreachable(event);
    }
  }

  /** A model call that starts again replaces the interrupted one. */
  private startStep(): void {
    if (this.blocks !== undefined) {
      this.resetStep();
      return;
    }
    this.finishStep();
    this.hasStep = true;
    this.blocks = [];
    this.chunks.push({ type: 'start-step' });
  }

  private resetStep(): void {
    if (this.blocks === undefined || (this.blocks.length === 0 && this.startedCalls.size === 0)) return;
    this.blocks = [];
    this.startedCalls.clear();
    this.chunks.push({ type: 'reset-step' });
  }

  private finishStep(): void {
    this.closeBlock();
    this.blocks = undefined;
    if (this.hasStep) this.chunks.push({ type: 'finish-step' });
    this.hasStep = false;
  }

  private addText(kind: TextBlock['kind'], text: string): void {
    const { blocks } = this;
    if (blocks === undefined || text === '') return;
    if (kind === 'reasoning' && this.options.sendReasoning === false) return;
    let block = blocks.at(-1);
    if (block?.kind !== kind) {
      this.closeBlock();
      this.blockCount += 1;
      block = { kind, id: `${kind}-${this.blockCount}`, text: '' };
      blocks.push(block);
      this.chunks.push({ type: `${kind}-start`, id: block.id });
    }
    blocks[blocks.length - 1] = { ...block, text: block.text + text };
    this.chunks.push({ type: `${kind}-delta`, id: block.id, delta: text });
  }

  private addArguments({ callId: toolCallId, name: toolName, delta }: AgentEventOf<'tool:arguments_delta'>): void {
    if (this.blocks === undefined) return;
    if (!this.startedCalls.has(toolCallId)) this.chunks.push({ type: 'tool-input-start', toolCallId, toolName });
    this.startedCalls.add(toolCallId);
    this.chunks.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta });
  }

  private closeBlock(): void {
    const block = this.blocks?.at(-1);
    if (block !== undefined) this.chunks.push({ type: `${block.kind}-end`, id: block.id });
  }

  /** Adds what was not streamed. A response with other text than was streamed replaces it. */
  private completeStep(response: LLMResponse): void {
    if (this.blocks === undefined) this.startStep();
    const { sendReasoning = true } = this.options;
    const items = sendReasoning ? response.output : response.output.filter(({ type }) => type !== 'reasoning');
    const blocks = blocksOf(items);
    if (!isPrefix(this.blocks ?? [], blocks)) this.resetStep();
    for (const [index, { kind, text }] of blocks.entries())
      this.addText(kind, text.slice(this.blocks?.[index]?.text.length ?? 0));
    this.closeBlock();
    this.blocks = undefined;
    this.startedCalls.clear();
    for (const source of sourcesOf(items)) {
      this.sourceCount += 1;
      this.chunks.push({ type: 'source-url', sourceId: `source-${this.sourceCount}`, ...source });
    }
    for (const file of filesOf(items)) this.chunks.push({ type: 'file', ...file });
    const output = opaqueOutput(items);
    if (output !== undefined)
      this.chunks.push({ type: 'custom', kind: OUTPUT_PART, providerMetadata: { bolide: { output } } });
  }

  private endEarly(usage: Usage, last: UIMessageChunk): void {
    this.finishStep();
    this.hasEnded = true;
    this.chunks.push({ type: 'message-metadata', messageMetadata: { usage: usageOf(usage) } }, last);
  }

  private finish(finishReason: FinishReason, messageMetadata: MessageMetadata): void {
    this.hasEnded = true;
    this.chunks.push({ type: 'finish', finishReason, messageMetadata });
  }
}

function isPrefix(streamed: readonly TextBlock[], complete: readonly TextBlock[]): boolean {
  return streamed.every(({ kind, text }, index) => {
    const block = complete[index];
    const isLast = index === streamed.length - 1;
    return block?.kind === kind && (isLast ? block.text.startsWith(text) : block.text === text);
  });
}

function finishReasonOf(response: LLMResponse): FinishReason {
  if (response.status === 'incomplete')
    return response.incomplete_details?.reason === 'content_filter' ? 'content-filter' : 'length';
  return toolCalls(response).length > 0 ? 'tool-calls' : 'stop';
}

function usageOf(usage: Usage): NonNullable<MessageMetadata['usage']> {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
    cachedInputTokens: usage.input_tokens_details.cached_tokens,
    reasoningTokens: usage.output_tokens_details.reasoning_tokens,
  };
}

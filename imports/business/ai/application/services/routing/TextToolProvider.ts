/**
 * Decorates a provider so that models without native tool calling can use tools: the prompt describes the tools, a
 * response that is one JSON object is a call, and results are sent as labelled text.
 */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool } from '../../../domain/entities/Tool';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { GenerateOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { WireName } from '../../../domain/types/VendorTypes';
import { normalizeInput, normalizeTools } from '../ContentNormalizer';
import { toolInstructions, historyAsText } from './textTools/toolPrompt';
import { mayBeCallPrefix, withTextCall, parseTextCall } from './textTools/parseTextCall';

export class TextToolProvider extends ProviderDecorator {
  /** @throws UnsupportedFeatureError before anything is sent, for tools that only a vendor's server can run */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const { request, offersTools } = asPrompt(options);
    const response = await this.provider.generate(userId, request);
    return offersTools ? withTextCall(response, parseTextCall(response)) : response;
  }

  /** Holds text back while it may still turn out to be a call. Prose is streamed as it arrives. */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const { request, offersTools } = asPrompt(options);
    const events = this.provider.stream(userId, request);
    if (offersTools) yield* withCalls(events);
    else yield* events;
  }

  override getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return {
      ...this.provider.getCapabilities(model, wire),
      supportsTools: true,
      supportsParallelTools: false,
      supportsAsyncTools: false,
    };
  }
}

/**
 * The request with its tools moved into the text. `relay` and `relayTo` are dropped, since the wire's raw events do not
 * have the response's meaning.
 */
function asPrompt(options: GenerateOptions): { readonly request: GenerateOptions; readonly offersTools: boolean } {
  const {
    tools: given,
    tool_choice: choice,
    parallel_tool_calls: _parallel,
    relay: _relay,
    relayTo,
    findableTools: _findable,
    ...rest
  } = options;
  const tools = offered(given, choice);
  const input = historyAsText(normalizeInput(options.input));
  if (tools.length === 0) return { request: { ...rest, input }, offersTools: false };
  const toolPrompt = toolInstructions(tools, isForced(choice));
  const instructions = options.instructions === undefined ? toolPrompt : `${options.instructions}\n\n${toolPrompt}`;
  return { request: { ...rest, input, instructions }, offersTools: true };
}

function offered(given: GenerateOptions['tools'], choice: ToolChoice | undefined): readonly FunctionTool[] {
  const tools = normalizeTools(given).map((tool) => {
    if (isFunctionTool(tool)) return tool;
    throw new UnsupportedFeatureError(
      `The built-in tool "${tool.type}" runs on a vendor's server, so a model without native tool calling can't use it.`,
      { path: 'tools' },
    );
  });
  if (choice === 'none') return [];
  if (typeof choice !== 'object') return tools;
  const names = choice.type === 'allowed_tools' ? choice.tools.map(({ name }) => name) : [choice.name];
  return tools.filter(({ name }) => names.includes(name));
}

function isForced(choice: ToolChoice | undefined): boolean {
  if (typeof choice !== 'object') return choice === 'required';
  return choice.type !== 'allowed_tools' || choice.mode === 'required';
}

async function* withCalls(
  events: AsyncIterable<ResponseStreamEvent>,
): AsyncGenerator<ResponseStreamEvent, void, undefined> {
  let heldBack: ResponseStreamEvent[] = [];
  let text = '';
  let isProse = false;
  for await (const event of events) {
    if (event.type === 'response.completed') {
      const call = isProse ? undefined : parseTextCall(event.response);
      const response = withTextCall(event.response, call);
      yield* call === undefined ? heldBack : eventsOfCall(response);
      heldBack = [];
      yield { ...event, response };
    } else if (isProse || !isOfMessage(event)) {
      yield event;
    } else {
      heldBack.push(event);
      if (event.type === 'response.output_text.delta') text += event.delta;
      isProse = event.type === 'response.refusal.delta' || !mayBeCallPrefix(text);
      if (!isProse) continue;
      yield* heldBack;
      heldBack = [];
    }
  }
  yield* heldBack;
}

/** Whether an event belongs to a message, whose text may be a call. */
function isOfMessage(event: ResponseStreamEvent): boolean {
  switch (event.type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      return event.item.type === 'message';
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.annotation.added':
      return true;
    default:
      return false;
  }
}

function* eventsOfCall(response: LLMResponse): Generator<ResponseStreamEvent> {
  for (const [output_index, item] of response.output.entries()) {
    if (item.type !== 'function_call') continue;
    const { call_id, name } = item;
    yield { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', status: 'in_progress' } };
    yield { type: 'response.tool_use.announced', output_index, call_id, name };
    yield { type: 'response.tool_use.done', output_index, item };
    yield { type: 'response.output_item.done', output_index, item };
  }
}

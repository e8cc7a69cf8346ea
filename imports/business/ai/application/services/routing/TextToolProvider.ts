/**
 * Gives tools to models that have no tool calling of their own: tools are described in words, a call is an answer
 * that is one JSON object, results are labelled texts.
 */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool } from '../../../domain/entities/Tool';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { WireName } from '../../../domain/types/VendorTypes';
import { normalizeInput, normalizeTools } from '../ContentNormalizer';
import { toolInstructions, historyAsText } from './textTools/toolPrompt';
import { mayBeCallPrefix, withWrittenCall, parseTextCall } from './textTools/parseTextCall';

export class TextToolProvider implements ILLMProvider {
  private readonly provider: ILLMProvider;

  constructor(provider: ILLMProvider) {
    this.provider = provider;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /** @throws UnsupportedFeatureError for tools that a vendor's server would have to run, before anything is sent */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const { request, offersTools } = asPrompt(options);
    const response = await this.provider.generate(userId, request);
    return offersTools ? withWrittenCall(response, parseTextCall(response)) : response;
  }

  /** Text that may yet turn out to be a call is held back; prose goes out as it comes. */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const { request, offersTools } = asPrompt(options);
    const events = this.provider.stream(userId, request);
    if (offersTools) yield* withCalls(events);
    else yield* events;
  }

  validateAccess(userId: string): Promise<boolean> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return {
      ...this.provider.getCapabilities(model, wire),
      supportsTools: true,
      supportsParallelTools: false,
      supportsAsyncTools: false,
    };
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }
}

/**
 * The request without any word about tools but those in its texts. What the wire says is not what the answer means,
 * so it is not relayed.
 */
function asPrompt(options: GenerateOptions): { readonly request: GenerateOptions; readonly offersTools: boolean } {
  const { tools: given, tool_choice: choice, parallel_tool_calls: _parallel, relay: _relay, ...rest } = options;
  const tools = offered(given, choice);
  const input = historyAsText(normalizeInput(options.input));
  if (tools.length === 0) return { request: { ...rest, input }, offersTools: false };
  const words = toolInstructions(tools, isForced(choice));
  const instructions = options.instructions === undefined ? words : `${options.instructions}\n\n${words}`;
  return { request: { ...rest, input, instructions }, offersTools: true };
}

function offered(given: GenerateOptions['tools'], choice: ToolChoice | undefined): readonly FunctionTool[] {
  const tools = normalizeTools(given).map((tool) => {
    if (isFunctionTool(tool)) return tool;
    throw new UnsupportedFeatureError(
      `The tool '${tool.type}' is run by a vendor's server; a model without tools has none.`,
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
  let held: ResponseStreamEvent[] = [];
  let text = '';
  let isProse = false;
  for await (const event of events) {
    if (event.type === 'response.completed') {
      const call = isProse ? undefined : parseTextCall(event.response);
      const response = withWrittenCall(event.response, call);
      yield* call === undefined ? held : eventsOfCall(response);
      held = [];
      yield { ...event, response };
    } else if (isProse || !isOfMessage(event)) {
      yield event;
    } else {
      held.push(event);
      if (event.type === 'response.output_text.delta') text += event.delta;
      isProse = event.type === 'response.refusal.delta' || !mayBeCallPrefix(text);
      if (!isProse) continue;
      yield* held;
      held = [];
    }
  }
  yield* held;
}

/** Events of the message that a call may be written in. */
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

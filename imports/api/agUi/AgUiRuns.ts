/** Starts and continues runs for AG-UI clients. Holds no state: the ids in a thread name the runs they belong to. */
import { isFinished } from '../../business/ai/domain/entities/Run';
import {
  acceptsDecision,
  answeredIdOf,
  isAboutPresentAttempt,
  waitsForOutside,
  isSettled,
  inputOf,
  isExternalTool,
  isFunctionTool,
} from '../../business/ai/domain/entities/Tool';
import type { FunctionTool, ToolCall } from '../../business/ai/domain/entities/Tool';
import { ConflictError, LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isRecalledMessage } from '../../business/ai/domain/entities/recalledMemories';
import { identifier, invalid, oneOf, optional } from '../../business/ai/domain/util/arguments';
import { fieldsOf, isList, isObject } from '../../business/ai/domain/util/json';
import type { StoredRun } from '../../business/ai/domain/interfaces/RunStore';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import { MESSAGE_TIMES } from '../../business/ai/domain/types/RunMessages';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';
import type { AgenticLoop } from '../../business/ai/application/services/AgenticLoop';
import { ARGUMENT_LIMITS } from '../../business/ai/application/operations/readArguments';
import { permittedTools } from '../../business/ai/application/operations/permittedTools';
import type { AccessPolicy } from '../../business/ai/domain/interfaces/AccessPolicy';
import type { RunMethods } from '../../business/ai/application/operations/runCommandOperations';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { AgUiMessage, AgUiResumeEntry, RunAgentInput } from '../../interop/agUi/AgUiMessages';
import type { AgUiRunState } from '../../interop/agUi/AgUiToolState';
import type { AgUiAnswer, AgUiAnswers } from '../../interop/agUi/AgUiCalls';
import { parseInterruptId, parseWireCallId } from '../../interop/agUi/agUiIds';
import { readInterruptAnswer } from '../../interop/agUi/readRunAgentInput';
import { toConversation, toUserItem } from '../../interop/agUi/toConversation';
import { callOfRunId, callOfRunIn } from '../../business/ai/domain/entities/callOfRun';
import { childId } from '../../business/ai/application/services/shared/childId';
import { toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { loadCurrentRun } from '../chat/loadCurrentRun';
import type { LoadRunPorts } from '../chat/loadCurrentRun';
import { progressOf } from '../chat/progressOf';
import { sendToRun } from '../chat/sendToRun';
import { startsRun } from '../chat/serverTools';
import type { StreamedRun } from '../chat/streamEvents';
import type { ModelDirectory } from '../gateway/models/ModelDirectory';

export interface AgUiRunsPorts extends LoadRunPorts {
  readonly loop: LoadRunPorts['loop'] & Pick<AgenticLoop, 'queuedMessages'>;
  readonly methods: RunMethods;
  readonly models: Pick<ModelDirectory, 'resolve'>;
  readonly tools: { readonly tools: readonly FunctionTool[] };
  /** Which of the tools a user may use. Default: all. */
  readonly access?: AccessPolicy;
}

export interface AgUiTurn extends StreamedRun {
  /** The run as an earlier AG-UI run left it, if this one continues it. */
  readonly stored?: StoredRun;
  /** The calls that were answered just now, as their interrupts and results name them. */
  readonly answered: AgUiAnswers;
  /** The messages that the run, which was under way, was sent. */
  readonly sent?: readonly string[];
}

type ToolMessage = Extract<AgUiMessage, { readonly role: 'tool' }>;
type UserMessage = Extract<AgUiMessage, { readonly role: 'user' }>;

/** `forwardedProps.bolide` */
export interface AgUiOptions {
  /** The address of a model, such as `openai` or `anthropic/claude-sonnet-4-5`. Default: the server's. */
  readonly model?: string | undefined;
  /** Names of the server's tools. Default: all whose results are not supplied from outside. */
  readonly tools?: readonly string[] | undefined;
  /** What happens to the run when the client disconnects. Default: `cancel`. */
  readonly onDisconnect?: 'cancel' | 'continue' | undefined;
  /** When a run that is under way receives the messages. Default: `after`. */
  readonly when?: MessageTime | undefined;
}

export class AgUiRuns {
  private readonly ports: AgUiRunsPorts;

  constructor(ports: AgUiRunsPorts) {
    this.ports = ports;
  }

  async submit(principal: ApiPrincipal, given: RunAgentInput, options: AgUiOptions): Promise<AgUiTurn> {
    // The messages of subagents are for display.
    const input = { ...given, messages: given.messages.filter(({ subagentRunId }) => subagentRunId === undefined) };
    const results = trailingResults(input.messages);
    const referenced = referencedRun(input, results);
    if (referenced !== undefined) {
      const stored = await this.load(principal, referenced);
      if (stored !== undefined) return this.continue(principal, input, stored, results);
      if (input.resume.length > 0) throw invalid('resume[0].interruptId', 'names no run of yours');
    }
    const present = await this.presentRun(principal, input);
    const joined = present === undefined ? undefined : await this.join(principal, input, options, present);
    return joined ?? this.start(principal, input, options);
  }

  /** @returns ids of the messages that wait in the run's queue: others were withdrawn */
  async queued(executionId: string, messageIds: ReadonlySet<string>): Promise<readonly string[]> {
    const queued = await this.ports.loop.queuedMessages(executionId);
    return queued.flatMap(({ messageId }) => (messageIds.has(messageId) ? [messageId] : []));
  }

  cancel(principal: ApiPrincipal, executionId: string): Promise<unknown> {
    return this.ports.methods['ai.runs.cancel'](toActor(principal), { executionId });
  }

  private async start(principal: ApiPrincipal, input: RunAgentInput, options: AgUiOptions): Promise<AgUiTurn> {
    const { models, methods } = this.ports;
    const { providerId, model: named } = await models.resolve(principal, options.model, 'responses');
    const { items, instructions } = toConversation(input);
    const { executionId } = await methods['ai.runs.start'](toActor(principal, 'ag_ui'), {
      requestId: input.runId,
      providerId,
      input: items,
      tools: options.tools ?? (await this.defaultTools(principal)),
      ...(/^[^\s\p{C}]{1,128}$/u.test(input.threadId) ? { conversationId: input.threadId } : {}),
      ...(input.tools.length === 0 ? {} : { clientTools: input.tools }),
      ...omitUndefined({ model: named, instructions }),
    });
    return { executionId, answered: new Map() };
  }

  private async defaultTools(principal: ApiPrincipal): Promise<readonly string[]> {
    const tools = this.ports.tools.tools.filter((tool) => !waitsForOutside(tool));
    const permitted = await permittedTools(this.ports.access, toActor(principal), tools);
    return permitted.map(({ name }) => name);
  }

  private async continue(
    principal: ApiPrincipal,
    { resume }: RunAgentInput,
    stored: StoredRun,
    results: readonly ToolMessage[],
  ): Promise<AgUiTurn> {
    const { executionId } = stored.run;
    const answered = new Map<string, AgUiAnswer>();
    const decided = new Set<string>();
    const calls = new Map(stored.calls.map((call) => [answeredIdOf(call), call]));
    for (const [index, entry] of resume.entries()) {
      const { callId = '', startTime } = parseInterruptId(entry.interruptId) ?? {};
      const below = calls.has(callId) ? undefined : callOfRunIn(callId);
      const run = below === undefined ? stored : await this.load(principal, below.executionId);
      const call = run?.calls.find((each) => answeredIdOf(each) === (below?.callId ?? callId));
      // An answer to an earlier interrupt does not answer what the call waits for now, which is asked again.
      if (run === undefined || call === undefined || isSettled(call) || !isAboutPresentAttempt(call, startTime))
        continue;
      const of = { executionId: run.run.executionId, callId: answeredIdOf(call) };
      answered.set(callId, await this.answer(principal, of.executionId, call, entry, `resume[${index}]`));
      decided.add(callOfRunId(of));
    }
    for (const { toolCallId, content } of results) {
      const call = calls.get(parseWireCallId(toolCallId)?.callId ?? '');
      if (call === undefined || isSettled(call) || answered.has(call.id)) continue;
      const output = typeof content === 'string' ? content : JSON.stringify(content);
      await this.ports.methods['ai.runs.submitToolResult'](toActor(principal), {
        executionId,
        callId: call.id,
        ...omitUndefined({ inputId: inputOf(call)?.id }),
        output,
      });
      answered.set(call.id, 'result');
      decided.add(callOfRunId({ executionId, callId: call.id }));
    }
    return { executionId, stored: (await this.load(principal, executionId)) ?? stored, answered, decided };
  }

  private async answer(
    principal: ApiPrincipal,
    executionId: string,
    call: ToolCall,
    { interruptId, status, payload }: AgUiResumeEntry,
    path: string,
  ): Promise<AgUiAnswer> {
    const { methods } = this.ports;
    const actor = toActor(principal);
    // The interrupt names the question, by which the call was found.
    const named = { executionId, callId: call.id, ...omitUndefined({ inputId: inputOf(call)?.id }) };
    const { argumentsHash, startTime } = parseInterruptId(interruptId) ?? {};
    const decision = { ...named, argumentsHash };
    const given = status === 'cancelled' ? {} : readInterruptAnswer(payload, `${path}.payload`);
    const { approved = false, reason, output, error } = given;
    const isDismissed = status === 'cancelled';
    if (acceptsDecision(call) && (given.approved !== undefined || isDismissed)) {
      if (approved) await methods['ai.runs.approve'](actor, { ...decision, ...omitUndefined({ startTime }) });
      else await methods['ai.runs.reject'](actor, { ...decision, reason: reason ?? DISMISSED });
      return 'decision';
    }
    if (output === undefined && error === undefined && !isDismissed)
      throw invalid(`${path}.payload`, 'does not match the response schema of its interrupt');
    const result = output === undefined ? { error: error ?? DISMISSED } : { output };
    await methods['ai.runs.submitToolResult'](actor, { ...named, ...result });
    return 'result';
  }

  /** The run that the thread is at, by the shared state or the messages. */
  private async presentRun(principal: ApiPrincipal, input: RunAgentInput): Promise<StoredRun | undefined> {
    const { executionId } = stateOf(input);
    const named = typeof executionId === 'string' ? await this.load(principal, executionId) : undefined;
    // An application may keep its state for another thread.
    if (named?.run.conversationId === input.threadId) return named;
    const last = input.messages.findLast(({ role }) => role === 'assistant');
    const reference = parseWireCallId(last?.id ?? '');
    return reference === undefined ? undefined : this.load(principal, reference.executionId);
  }

  /**
   * Sends the run the messages that it does not have. Cancels a run that waits for the client, which cannot be
   * continued once a message follows its calls, and one whose last message is to be answered anew.
   * @returns undefined if another run is to answer
   * @throws ConflictError if the run waits for answers to its interrupts
   */
  private async join(
    principal: ApiPrincipal,
    input: RunAgentInput,
    { when = 'after' }: AgUiOptions,
    present: StoredRun,
  ): Promise<AgUiTurn | undefined> {
    const { executionId, requestId, state } = present.run;
    const joined = { executionId, stored: present, answered: new Map<string, AgUiAnswer>() };
    const added = newMessages(input.messages, present);
    const isRepeated = input.runId === requestId || input.runId === stateOf(input).runId;
    if (isRepeated && added.length === 0) return joined;
    if (isFinished(state)) return undefined;
    if (await this.asksForDecisions(present))
      throw new ConflictError('The thread has interrupts that "resume" must answer before the conversation goes on.', {
        path: 'resume',
      });
    const isAskedAnew = added.length === 0 && input.messages.at(-1)?.role === 'user';
    if (isAskedAnew || (await progressOf(this.ports, executionId, clientToolsOf(present))) === 'waiting') {
      await this.cancel(principal, executionId);
      return undefined;
    }
    const sent = added.map((message) => {
      const path = `messages[${input.messages.indexOf(message)}]`;
      const messageId = identifier(ARGUMENT_LIMITS.id)(message.id, `${path}.id`);
      return { executionId, messageId, message: [toUserItem(message, path)] as LLMInput, when };
    });
    for (const message of sent) if (!(await sendToRun(this.ports, toActor(principal), message))) return undefined;
    const stored = (await this.load(principal, executionId)) ?? present;
    return { ...joined, stored, sent: sent.map(({ messageId }) => messageId) };
  }

  /** Whether calls of the run, or of one below it, wait for decisions. */
  private async asksForDecisions({ run, calls }: StoredRun): Promise<boolean> {
    for (const call of calls) {
      if (acceptsDecision(call)) return true;
      if (isSettled(call) || !startsRun(this.ports.tools, call.name)) continue;
      const below = await loadCurrentRun(this.ports, childId(run.executionId, call.id));
      if (below !== undefined && (await this.asksForDecisions(below))) return true;
    }
    return false;
  }

  /** @returns undefined for another user's run */
  private async load({ userId }: ApiPrincipal, executionId: string): Promise<StoredRun | undefined> {
    const stored = await loadCurrentRun(this.ports, executionId);
    return stored?.run.userId === userId ? stored : undefined;
  }
}

const DISMISSED = 'The user dismissed the request.';

/** The results after the last message of another role. */
function trailingResults(messages: readonly AgUiMessage[]): readonly ToolMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'activity') + 1;
  return messages.slice(start).filter((message) => message.role === 'tool');
}

/** @throws LLMInvalidRequestError */
function referencedRun({ resume }: RunAgentInput, results: readonly ToolMessage[]): string | undefined {
  const ids = resume.map(({ interruptId }, index) => {
    const { executionId } = parseInterruptId(interruptId) ?? {};
    if (executionId !== undefined) return executionId;
    throw new LLMInvalidRequestError(`"resume[${index}].interruptId" is not the id of an interrupt of Bolide's.`, {
      path: `resume[${index}].interruptId`,
    });
  });
  return ids[0] ?? parseWireCallId(results.at(-1)?.toolCallId ?? '')?.executionId;
}

function stateOf({ state }: RunAgentInput): Readonly<Partial<Record<keyof AgUiRunState, unknown>>> {
  return fieldsOf(fieldsOf(state)['bolide']);
}

/** The user's messages that the run neither began with, nor has received, nor has added to the thread. */
function newMessages(messages: readonly AgUiMessage[], { run, messages: sent }: StoredRun): readonly UserMessage[] {
  const delivered = new Set(sent?.delivered.map(({ messageId }) => messageId));
  const isOfRun = ({ id }: AgUiMessage): boolean => id.startsWith(`${run.executionId}:`);
  const last = messages.findLast(isOfRun);
  const since = last === undefined ? [] : messages.slice(messages.indexOf(last));
  const begun = run.input.filter((item) => item.type === 'message' && item.role === 'user' && !isRecalledMessage(item));
  // The run may have begun with messages that the client has forgotten.
  return messages
    .filter((message) => message.role === 'user')
    .filter((message) => !isOfRun(message))
    .filter((message, at) => (at >= begun.length || since.includes(message)) && !delivered.has(message.id));
}

/** The tools of a run that the client of an earlier AG-UI run executes. */
export function clientToolsOf({ run }: StoredRun): readonly string[] {
  return run.plan.tools.flatMap((tool) =>
    typeof tool !== 'string' && isFunctionTool(tool) && isExternalTool(tool) ? [tool.name] : [],
  );
}

/** @throws LLMInvalidRequestError */
export function readAgUiOptions({ forwardedProps }: Pick<RunAgentInput, 'forwardedProps'>): AgUiOptions {
  const path = 'forwardedProps.bolide';
  const { bolide = {} } = forwardedProps;
  if (!isObject(bolide)) throw invalid(path, 'must be an object');
  const { model, tools, onDisconnect } = bolide;
  if (model !== undefined && typeof model !== 'string') throw invalid(`${path}.model`, 'must be a string');
  if (tools !== undefined && !(isList(tools) && tools.every((name) => typeof name === 'string')))
    throw invalid(`${path}.tools`, 'must be a list of names');
  if (onDisconnect !== undefined && onDisconnect !== 'cancel' && onDisconnect !== 'continue')
    throw invalid(`${path}.onDisconnect`, 'must be "cancel" or "continue"');
  return { model, tools, onDisconnect, ...optional(bolide, 'when', oneOf(MESSAGE_TIMES), `${path}.when`) };
}

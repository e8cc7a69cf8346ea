/** Answers user messages with streamed text: one at a time within a conversation, conversations concurrently. */
import { programLogger } from '../../../../log/programLogger';
import { randomUUID } from 'node:crypto';
import { isLLMError, isStoreOutage, LLMAbortedError, MaxTakeoversError } from '../../domain/errors/LLMErrors';
import type { ChatOutcome, ChatTurn, ChatTurnStore } from '../../domain/interfaces/ChatTurnStore';
import type { ContextSource } from '../../domain/interfaces/ContextSource';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ConversationStore, PastMessage } from '../../domain/interfaces/ConversationStore';
import type { AnswerOutput, OutputChannels } from '../../domain/interfaces/OutputChannel';
import type { UserStorage } from '../../domain/interfaces/UserStorage';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { AgentEvent } from '../../domain/types/AgentEvents';
import type { CompactionOptions } from '../../domain/types/Compaction';
import type { CallOrigin } from '../../domain/types/RequestRecords';
import type { MessageItem } from '../../domain/types/ResponsesAPITypes';
import type { AgenticLoop } from './AgenticLoop';
import type { RecallOption } from './runs/recallMemories';
import { answerText } from './chat/answerText';
import { AnswerWriter } from './chat/AnswerWriter';
import { ChatInput } from './chat/ChatInput';
import { failureMessage, StageError } from './chat/failureMessage';
import { LiveAnswer } from './chat/LiveAnswer';
import type { LiveAnswerPorts } from './chat/LiveAnswer';
import { TurnOrder } from './chat/TurnOrder';
import type { LeasedWork, LeasedWorkSource } from './RunRecovery';
import { LeaseLostError } from '../../domain/errors/LeaseLostError';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { MAX_MESSAGE_ATTEMPTS } from './runs/durable/recoveryLimit';
import { KeyedQueue } from './shared/KeyedQueue';
import { jsonBytes } from '../../domain/util/jsonBytes';
import { requireOptions } from './shared/requireOptions';

/** Where messages are kept until they are answered, so that another process answers those of one that dies. */
export interface DurableTurns {
  readonly turns: ChatTurnStore;
  /** That of the loop. */
  readonly runs: Pick<RunStore, 'load' | 'head'>;
  /** Called before an answer begins: puts those of other processes into the conversation's channel. */
  readonly catchUp?: (userId: string, conversationId: string) => Promise<void>;
  /** The events of runs, by which answers that other processes have begun are shown while they are written. */
  readonly live?: () => LiveAnswerPorts['live'] | undefined;
}

export interface ResponseHandlerOptions {
  readonly loop: AgenticLoop;
  readonly memory: ConversationStore;
  readonly channels: OutputChannels;
  /** Default: messages that have no answer yet end with this process. */
  readonly durable?: DurableTurns | undefined;
  readonly model: string;
  readonly context?: ContextSource | undefined;
  readonly systemPrompt?: string | undefined;
  readonly temperature?: number | undefined;
  /** What is recalled for every message. Default: nothing. */
  readonly recall?: RecallOption | undefined;
  /** How histories are kept within the model's context window. Default: the loop's. */
  readonly compaction?: boolean | CompactionOptions;
  /** Names of the tools that the model is offered; evaluated for every message. */
  readonly tools?: () => readonly string[];
  /** Returns the tools that may be used where the message comes from. Default: all. */
  readonly permitTools?:
    | ((
        user: { readonly userId: string; readonly origin: CallOrigin },
        tools: readonly string[],
      ) => Promise<readonly string[]>)
    | undefined;
  /** What users may store with messages that have an origin: those of the app's own code are never refused. */
  readonly storage?: Pick<UserStorage, 'admit'> | undefined;
  /** Time limit in milliseconds for each access to memory and context. Default 10,000. */
  readonly lookupTimeout?: number;
  /** Default: the console. */
  readonly logger?: Logger | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface MessageOptions {
  /** Overrides the handler's model. */
  readonly model?: string;
  /** The conversation so far, instead of what the memory has stored. The message itself may be its last entry. */
  readonly history?: readonly PastMessage[];
  /** Stops the answer, or prevents it from starting. */
  readonly signal?: AbortSignal;
  /** Where the message comes from, for the request log and the limits of API tokens. */
  readonly origin?: CallOrigin;
}

const DEFAULT_LOOKUP_TIMEOUT = 10_000;
/** How often it is looked whether the run of a message was parked. */
const PARKED_POLLING_MS = 1_000;

/** A message that will be answered, whatever happens to this process if its handler is durable. */
export interface AcceptedMessage {
  /** The id of the run that answers the message, once the messages before it have been answered. */
  readonly executionId: string;
  /**
   * Resolves when the answer has ended on the conversation's channel, successfully or with a line that states what
   * failed; or when it is left to another process, because this one ends. Never rejects.
   */
  readonly answered: Promise<void>;
}

interface DriveOptions {
  readonly signal?: AbortSignal | undefined;
  /** Another process may have begun to answer. */
  readonly isTakenOver?: boolean;
}

/**
 * Answers the messages of conversations: loads the history and context, runs the agentic loop with the offered tools,
 * streams the text to the conversation's channel, and stores message and answer. Depends on an `AgenticLoop`, a
 * `ConversationStore` and output channels.
 */
export class ResponseHandler implements LeasedWorkSource {
  private readonly options: ResponseHandlerOptions;
  private readonly logger: Logger;
  private readonly now: () => number;
  private readonly input: ChatInput;
  private readonly queue = new KeyedQueue();
  private readonly order = new TurnOrder();
  /** Answers in progress, by the ids of their messages and runs. */
  private readonly answers = new Map<string, AnswerWriter>();
  /** Ids of the runs in `answers` that have completed in this process. */
  private readonly completed = new Set<string>();
  /** Ids of the messages that this process answers. */
  private readonly driven = new Set<string>();
  private readonly stopping = new AbortController();

  constructor(options: ResponseHandlerOptions) {
    requireOptions(options, ['loop'], 'new ResponseHandler({ loop, memory, output })');
    const { memory, context, lookupTimeout = DEFAULT_LOOKUP_TIMEOUT } = options;
    this.options = options;
    this.logger = programLogger(options.logger);
    this.now = options.now ?? Date.now;
    this.input = new ChatInput({ memory, context, logger: this.logger, lookupTimeout });
  }

  /**
   * Resolves when the answer has ended on the conversation's channel, successfully or with a line that states what
   * failed. Never rejects.
   */
  async handleMessage(
    userId: string,
    conversationId: string,
    message: string,
    options: MessageOptions = {},
  ): Promise<void> {
    try {
      const { answered } = await this.accept(userId, conversationId, message, options);
      await answered;
    } catch (error) {
      const output = this.options.channels(userId, conversationId).begin();
      output.fail(this.reported({ userId, conversationId }, error));
    }
  }

  /**
   * Resolves as soon as the message is stored, if the handler is durable.
   * @throws TooLargeToStoreError, StorageFullError; what the store throws
   */
  async accept(
    userId: string,
    conversationId: string,
    text: string,
    { signal, ...options }: MessageOptions = {},
  ): Promise<AcceptedMessage> {
    const { durable, loop } = this.options;
    const turn: ChatTurn = { id: randomUUID(), userId, conversationId, text, at: this.now(), ...options };
    // Stored until it is answered, and as a message of its conversation.
    const stored = await this.admit(turn, [turn, text]);
    if (durable === undefined) {
      stored?.();
      return { executionId: turn.id, answered: this.drive(turn, { signal }) };
    }
    return new Promise((resolve, reject) => {
      this.underLease(turn, async () => {
        await durable.turns.add(turn, loop.leasedWork.ownerId).finally(stored);
        const answered = this.drive(turn, { signal });
        resolve({ executionId: turn.id, answered });
        await answered;
      }).catch(reject);
    });
  }

  private async admit({ userId, origin }: ChatTurn, content: unknown): Promise<(() => void) | undefined> {
    return origin === undefined ? undefined : this.options.storage?.admit(userId, jsonBytes(content));
  }

  /** Whose message it is whose run has not begun. Undefined for other ids, and if the handler is not durable. */
  async userOf(executionId: string): Promise<string | undefined> {
    return this.options.durable?.turns.userOf(executionId);
  }

  /** Ends a message whose run has not begun, whichever process would answer it. */
  async cancel(executionId: string): Promise<void> {
    const { durable, loop } = this.options;
    const failure = failureMessage(new LLMAbortedError('The message was cancelled.'));
    await durable?.turns.finish(executionId, { text: '', failure });
    // The run may have begun meanwhile.
    if ((await durable?.runs.head(executionId)) !== undefined) await loop.cancel(executionId);
  }

  /** The messages of other processes, and those that this one could not end. */
  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedWork[]> {
    const { durable } = this.options;
    const found = (await durable?.turns.leased(limit + this.driven.size, except)) ?? [];
    return found
      .filter(({ turn }) => !this.driven.has(turn.id))
      .map(({ turn, owner }) => ({ owner, recover: () => this.takeOver(turn, owner) }));
  }

  /** Leaves the messages that have no answer to the next process, if the handler is durable. */
  stop(): void {
    this.stopping.abort(new LLMAbortedError('The process is shutting down.'));
  }

  private async takeOver(turn: ChatTurn, from: string): Promise<void> {
    const { durable, loop } = this.options;
    if (this.driven.has(turn.id) || this.stopping.signal.aborted) return;
    await this.underLease(turn, async () => {
      if (await durable?.turns.claim(turn.id, from, loop.leasedWork.ownerId))
        await this.drive(turn, { isTakenOver: true });
    });
  }

  private async underLease(turn: ChatTurn, work: () => Promise<void>): Promise<void> {
    this.driven.add(turn.id);
    try {
      await this.options.loop.leasedWork.run(`message ${turn.id}`, work);
    } finally {
      this.driven.delete(turn.id);
    }
  }

  /** Never rejects. */
  private async drive(turn: ChatTurn, options: DriveOptions): Promise<void> {
    try {
      if (this.options.durable === undefined) await this.answerLocally(turn, options);
      else await this.answerDurably(turn, options, this.options.durable);
    } catch (error) {
      if (this.isLeft(error)) await this.handOver(turn);
      else this.outputOf(turn).fail(this.reported(turn, error));
    }
  }

  /** Another process need not wait for the end of a lease. */
  private async handOver({ id, conversationId }: ChatTurn): Promise<void> {
    const { durable, loop } = this.options;
    try {
      await durable?.turns.claim(id, loop.leasedWork.ownerId, '');
    } catch (error) {
      this.logger.warn(`A message of the conversation "${conversationId}" is left to whoever finds it.`, error);
    }
  }

  private outputOf({ userId, conversationId, id }: ChatTurn): AnswerOutput {
    return this.options.channels(userId, conversationId).begin(id);
  }

  private async answerLocally(turn: ChatTurn, options: DriveOptions): Promise<void> {
    const output = this.outputOf(turn);
    const key = JSON.stringify([turn.userId, turn.conversationId]);
    await this.queue
      .run(key, () => this.answer(turn, new AnswerWriter(output), options))
      .then(
        () => output.done(),
        (error: unknown) => output.fail(this.reported(turn, error)),
      );
  }

  private async answerDurably(turn: ChatTurn, options: DriveOptions, durable: DurableTurns): Promise<void> {
    const answered = await this.order.reach(turn, durable.turns, this.stopping.signal);
    await durable.catchUp?.(turn.userId, turn.conversationId);
    const output = this.outputOf(turn);
    try {
      const { text, failure } = answered ?? (await this.recordAnswer(turn, output, options, durable));
      if (answered !== undefined) new AnswerWriter(output).complete(text);
      if (failure === undefined) output.done();
      else output.fail(failure);
    } catch (error) {
      // What the next process answers appears on the channel here, too.
      if (this.isLeft(error)) output.handOver?.();
      throw error;
    }
  }

  /** Records the answer before it ends on the channel, so that each message has one answer, which has one end. */
  private async recordAnswer(
    turn: ChatTurn,
    output: AnswerOutput,
    options: DriveOptions,
    { turns }: DurableTurns,
  ): Promise<ChatOutcome> {
    const writer = new AnswerWriter(output);
    let failure: string | undefined;
    try {
      await this.answer(turn, writer, options);
    } catch (error) {
      if (this.isLeft(error)) throw error;
      failure = this.reported(turn, error);
      // The listeners may have another beginning, of before this process took the message over.
      writer.complete(writer.text);
    }
    const outcome = omitUndefined({ text: writer.text, failure });
    await turns.finish(turn.id, outcome);
    this.order.advance(turn);
    return outcome;
  }

  /** Whether the message is answered later: by another process, or once the store can be reached. */
  private isLeft(error: unknown): boolean {
    if (this.options.durable === undefined) return false;
    const { cause } = error instanceof StageError ? error : { cause: error };
    return this.stopping.signal.aborted || error instanceof LeaseLostError || isStoreOutage(cause);
  }

  /** Logs the error. @returns it in one line for people */
  private reported({ userId, conversationId }: Pick<ChatTurn, 'userId' | 'conversationId'>, error: unknown): string {
    this.logger.error(
      `Could not answer a message of the conversation "${conversationId}".`,
      { userId, conversationId },
      error,
    );
    return failureMessage(error);
  }

  private async answer(turn: ChatTurn, writer: AnswerWriter, { signal, isTakenOver }: DriveOptions): Promise<void> {
    signal?.throwIfAborted();
    const { durable } = this.options;
    if (durable !== undefined && isTakenOver === true && (await this.hasRun(turn, durable)))
      await this.awaitRun(turn, writer, durable);
    else {
      // What this process has sent of it before it gave the message up.
      if (isTakenOver === true) writer.complete('');
      await this.generate(turn, await this.input.prepare(turn, this.now()), writer, signal);
    }
    await this.input.storeAnswer(turn, writer.text, this.now());
  }

  /** @throws MaxTakeoversError if process after process dies before it can start the run */
  private async hasRun({ id }: ChatTurn, { runs, turns }: DurableTurns): Promise<boolean> {
    if ((await runs.head(id)) !== undefined) return true;
    if ((await turns.countAttempt(id)) > MAX_MESSAGE_ATTEMPTS) throw givenUp();
    return false;
  }

  private async generate(
    turn: ChatTurn,
    input: readonly MessageItem[],
    answer: AnswerWriter,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { durable, loop, tools, permitTools, systemPrompt, temperature, recall, compaction } = this.options;
    const { id: executionId, userId, origin } = turn;
    const all = tools?.() ?? [];
    const offered = origin === undefined ? all : ((await permitTools?.({ userId, origin }, all)) ?? all);
    if (durable !== undefined) {
      this.stopping.signal.throwIfAborted();
      if ((await durable.turns.userOf(executionId)) === undefined)
        throw new LLMAbortedError('The message was cancelled.');
    }
    const stored = await this.admit(turn, input);
    this.begin(executionId, answer);
    try {
      const starting = loop.start(userId, {
        executionId,
        model: turn.model ?? this.options.model,
        input,
        tools: offered,
        stream: true,
        ...omitUndefined({ instructions: systemPrompt, temperature, recall, compaction, signal, origin }),
      });
      const { done } = await starting.finally(stored);
      const { response } = await done;
      if (durable === undefined || this.completed.has(executionId)) {
        answer.finish(response.output_text);
        return;
      }
    } catch (error) {
      if (durable === undefined || !isLLMError(error) || error.code !== 'conflict') throw error;
    } finally {
      this.end(executionId);
    }
    // Another process, which took this one for dead, has started the run, or taken it over and perhaps called the
    // model again.
    await this.awaitRun(turn, answer, durable);
  }

  /** Writes the answer of a run that another process has started, until it has ended. @throws its error */
  private async awaitRun({ id }: ChatTurn, writer: AnswerWriter, { runs, live }: DurableTurns): Promise<void> {
    const { loop } = this.options;
    const events = live?.();
    const shown = events === undefined ? undefined : new LiveAnswer(id, writer, { live: events, runs });
    const parked = { isGivenUp: false };
    const watch = setInterval(() => void this.giveUpParked(id, parked), PARKED_POLLING_MS);
    let failure: unknown;
    await loop
      .waitForResult(id, this.stopping.signal)
      .catch((error: unknown) => (failure = error))
      .finally(() => {
        clearInterval(watch);
        shown?.stop();
      });
    this.stopping.signal.throwIfAborted();
    if (parked.isGivenUp) throw givenUp();
    const stored = await runs.load(id);
    if (stored !== undefined) writer.complete(answerText(stored.run));
    // Boundary: what the loop throws.
    if (failure !== undefined) throw failure as Error;
  }

  /** A parked run waits for an operator, but the messages behind it must not. So it is cancelled. */
  private async giveUpParked(executionId: string, parked: { isGivenUp: boolean }): Promise<void> {
    const { durable, loop } = this.options;
    try {
      if ((await durable?.runs.head(executionId))?.parked === undefined) return;
      // Set first, since `awaitRun` learns of the end of the run at once.
      parked.isGivenUp = true;
      await loop.cancel(executionId);
    } catch (error) {
      parked.isGivenUp = false;
      this.logger.warn('Could not read the state of a run. This will be retried.', { executionId }, error);
    }
  }

  /** Runs create no event that nobody hears, so the handler listens only while it answers. */
  private begin(executionId: string, answer: AnswerWriter): void {
    if (this.answers.size === 0) this.options.loop.on('event', this.onEvent);
    this.answers.set(executionId, answer);
  }

  private end(executionId: string): void {
    this.answers.delete(executionId);
    this.completed.delete(executionId);
    if (this.answers.size === 0) this.options.loop.off('event', this.onEvent);
  }

  private readonly onEvent = (event: AgentEvent): void => {
    const answer = this.answers.get(event.executionId);
    if (answer === undefined) return;
    switch (event.type) {
      case 'iteration:start':
        answer.nextTurn();
        return;
      case 'llm:delta':
        if (event.kind === 'text') answer.add(event.delta);
        return;
      case 'run:completed':
        this.completed.add(event.executionId);
        return;
      case 'tool:failed':
      case 'tool:timeout':
        this.logger.warn(`The tool "${event.name}" failed: ${event.error.message}`, {
          executionId: event.executionId,
          callId: event.callId,
        });
        return;
      default:
    }
  };
}

function givenUp(): MaxTakeoversError {
  return new MaxTakeoversError('The message was given up: every process that began to answer it has died.');
}

/** A conversation with an agent: each call continues the one before. */
import { ConflictError } from '../business/ai/domain/errors/LLMErrors';
import type { LLMInput } from '../business/ai/domain/types/LLMTypes';
import { continuedCompaction } from '../business/ai/application/services/runs/compaction/compactionOptions';
import type { RunCompaction } from '../business/ai/domain/types/Compaction';
import type { Item } from '../business/ai/domain/types/ResponsesAPITypes';
import { adoptInput, normalizeInput } from '../business/ai/application/services/ContentNormalizer';
import type { AgentResult } from './AgentResult';
import type { AgentRun } from './AgentRun';
import type { AgentSettings, CallOptions } from './AgentSettings';

/** What a conversation needs of its agent. */
export interface ConversationAgent {
  stream(input: LLMInput, options?: CallOptions): AgentRun;
  generate(input: LLMInput, options?: CallOptions): Promise<AgentResult>;
}

/** A run that fails leaves the conversation as it was before. */
export class Conversation {
  private readonly agent: ConversationAgent;
  private readonly settings: Pick<AgentSettings, 'compaction'>;
  private items: readonly Item[];
  private compaction: RunCompaction | undefined;
  private isBusy = false;

  /** @param settings the agent's, for calls that set nothing else */
  constructor(agent: ConversationAgent, messages: LLMInput, settings: Pick<AgentSettings, 'compaction'> = {}) {
    this.agent = agent;
    this.settings = settings;
    this.items = messages.length === 0 ? [] : normalizeInput(messages);
  }

  /** What was said so far. It survives a round trip through JSON, and another conversation can start with it. */
  get transcript(): readonly Item[] {
    return this.items;
  }

  /** @throws ConflictError while an answer is awaited; what `Agent.stream` throws */
  stream(input: LLMInput, options?: CallOptions): AgentRun {
    const run = this.agent.stream(this.continuedBy(input), this.continued(options));
    this.follow(run.result);
    return run;
  }

  /** @throws ConflictError while an answer is awaited; what `Agent.generate` throws */
  async generate(input: LLMInput, options?: CallOptions): Promise<AgentResult> {
    const result = this.agent.generate(this.continuedBy(input), this.continued(options));
    this.follow(result);
    return result;
  }

  private continuedBy(input: LLMInput): readonly Item[] {
    if (this.isBusy) throw new ConflictError('The conversation waits for an answer. Await its result first.');
    return adoptInput([...this.items, ...normalizeInput(input)]);
  }

  /** What earlier calls have compacted stays so. */
  private continued(options: CallOptions = {}): CallOptions {
    const { compaction: requested = this.settings.compaction } = options;
    const compaction = continuedCompaction(requested, this.compaction);
    return compaction === undefined ? options : { ...options, compaction };
  }

  private follow(result: Promise<AgentResult>): void {
    this.isBusy = true;
    result.then(
      ({ transcript, compaction }) => {
        this.items = transcript;
        this.compaction = compaction;
        this.isBusy = false;
      },
      () => {
        this.isBusy = false;
      },
    );
  }
}

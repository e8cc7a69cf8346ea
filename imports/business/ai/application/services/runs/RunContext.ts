/** What the parts of one run share: its state, its plan, its collaborators, and where it is recorded. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { RunRequest } from '../../../domain/types/RunRecords';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { LiveRun } from './LiveRun';
import type { RestoredRun } from './durable/restoreRun';
import type { RunJournalOptions } from './durable/RunJournal';
import type { ToolProcessor } from '../ToolProcessor';
import type { ToolSet } from '../tools/ToolSet';

export interface RunContext {
  readonly run: LiveRun;
  readonly provider: ILLMProvider;
  readonly processor: ToolProcessor;
  readonly tools: ToolSet;
  readonly options: NormalizedOptions;
  readonly limits: RunLimits;
  readonly stream: boolean;
  /** `RunLoop.run` resolves with the first answer instead of the last. */
  readonly returnsEarly: boolean;
  /** Undefined if runs are not stored. */
  readonly journal: JournalContext | undefined;
  /** The progress that another process made. Undefined for a new run. */
  readonly restored: RestoredRun | undefined;
  /** If set, the run ends with this error as soon as it starts. */
  readonly endError: LLMError | undefined;
}

export interface JournalContext extends Pick<
  RunJournalOptions,
  'store' | 'lease' | 'retryForMs' | 'isLeaseCurrent' | 'keepsTranscript' | 'onStateStored'
> {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Published with `run:started`. */
  readonly metadata: Pick<RunRequest, 'providerId' | 'title' | 'conversationId' | 'createdAt'>;
  /** Called when another process has taken the run over. */
  readonly onLeaseLost: () => void;
}

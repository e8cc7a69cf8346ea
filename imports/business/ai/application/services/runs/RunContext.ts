/** What one run is made of: what it is to do, with what, and where it is written down. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { RunLimits, RunRequest } from '../../../domain/types/RunRecords';
import type { LiveRun } from './LiveRun';
import type { RestoredRun } from './durable/restoreRun';
import type { RunJournalContext } from './durable/RunJournal';
import type { ToolProcessor } from '../ToolProcessor';
import type { ToolSet } from '../tools/ToolSet';

export interface RunContext {
  readonly execution: LiveRun;
  readonly provider: ILLMProvider;
  readonly processor: ToolProcessor;
  readonly tools: ToolSet;
  readonly options: NormalizedOptions;
  readonly limits: RunLimits;
  readonly stream: boolean;
  readonly returnsEarly: boolean;
  /** Where the run is written down. */
  readonly journal: JournalContext | undefined;
  /** Where it stands that another process began. */
  readonly restored: RestoredRun | undefined;
  /** Why it can't go on here or anywhere. */
  readonly refusal: LLMError | undefined;
}

export interface JournalContext extends Pick<
  RunJournalContext,
  'store' | 'lease' | 'retryForMs' | 'isLeaseCurrent' | 'keepsTranscript'
> {
  readonly startedAt: number;
  /** What is told of the run when it begins here. */
  readonly metadata: Pick<RunRequest, 'providerId' | 'title' | 'createdAt'>;
  /** Told when the run goes on elsewhere. */
  readonly onLost: () => void;
}

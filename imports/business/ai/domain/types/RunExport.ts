/** A complete run as JSON: what its page shows, without anything cut. */
import type { ToolCall } from '../entities/Tool';
import type { RequestView } from './RequestRecords';
import type { Item } from './ResponsesAPITypes';
import type { RunPlan, RunRecord } from './RunRecords';

export interface RunExport {
  readonly format: 'bolide.run';
  readonly version: 1;
  /** Milliseconds since the epoch, as all times. */
  readonly exportedAt: number;
  readonly run: ExportedRun;
  /** Credentials of tools that run at the vendor are masked. */
  readonly plan: RunPlan;
  readonly input: readonly Item[];
  /** The full conversation, input first. */
  readonly transcript: readonly Item[];
  /** In the order in which they were recorded, with complete arguments and results. */
  readonly calls: readonly ToolCall[];
  /** The run's model calls, oldest first, as far as the request log has them. */
  readonly requests: readonly RequestView[];
}

/** All fields of the stored run but those that only its owner process uses. */
export type ExportedRun = Omit<RunRecord, 'input' | 'transcript' | 'plan' | PrivateField>;

export const PRIVATE_RUN_FIELDS = [
  'argumentsHash',
  'owner',
  'fence',
  'isCalling',
  'turnStart',
  'failedTurns',
  'worked',
  'seq',
  'takeovers',
] as const satisfies readonly (keyof RunRecord)[];

type PrivateField = (typeof PRIVATE_RUN_FIELDS)[number];

/** What the dashboard knows of an operation. */
import type { Topic } from '../../business/ai/domain/types/Topics';

export interface OperationEntry {
  /** A query is reloaded when one of them changes; a command changes them. */
  readonly topics: readonly Topic[];
  /** The addresses over HTTP, such as `GET /runs/:executionId`: the first whose parameters the argument has is used. */
  readonly routes: readonly string[];
  /** The field of the response that is the result. Absent: the entire response is. */
  readonly field?: string;
}

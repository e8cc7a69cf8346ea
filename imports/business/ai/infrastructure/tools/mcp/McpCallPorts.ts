/** What the calls of one server share. */
import type { Logger } from '../../../domain/interfaces/Logger';
import type { McpConnection } from './McpConnection';
import type { McpElicitations } from './McpElicitations';

export interface McpCallPorts {
  readonly server: string;
  readonly connection: McpConnection;
  readonly elicitations: McpElicitations;
  readonly logger: Logger;
  /** Milliseconds for each request. */
  readonly timeout: number;
  /** Milliseconds for a task. */
  readonly taskTimeout: number;
  /** The model waits for tasks, too. */
  readonly waitsForTasks: boolean;
}

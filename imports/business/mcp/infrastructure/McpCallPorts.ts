/** What the calls of one server share. */
import type { Client } from '@modelcontextprotocol/client';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { McpElicitations } from './McpElicitations';

export interface McpCallPorts {
  readonly server: string;
  /** Runs requests on the connection that there is for the call, whose account may be another one each time. */
  readonly use: <Result>(
    requests: (client: Client, elicitations: McpElicitations) => Promise<Result>,
  ) => Promise<Result>;
  /**
   * The account lacks rights: the next sign-in asks for them.
   * @param scope what the server demands
   * @returns where the call's user can sign in; undefined if it cannot be said
   */
  readonly demandScope: (scope: string) => Promise<string | undefined>;
  readonly logger: Logger;
  /** Milliseconds for each request. */
  readonly timeout: number;
  /** Milliseconds for a task. */
  readonly taskTimeout: number;
  /** The model waits for tasks, too. */
  readonly waitsForTasks: boolean;
}

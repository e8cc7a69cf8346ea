/** One server that admins have added, in this process: its connection while it is switched on, and its tools. */
import type { StoredMcpServer } from '../../domain/McpServer';
import type { McpHealthView } from '../../domain/McpViews';
import type { McpSource } from '../McpSource';
import type { ListedTool } from './toolDefinition';
import type { ToolReview } from './ToolReview';

export interface OpenServer {
  readonly source: McpSource;
  readonly review: ToolReview;
}

export interface ManagedServer {
  readonly stored: StoredMcpServer;
  /** Undefined while it is switched off, and if it cannot be used. */
  readonly open?: OpenServer;
  /** Why it cannot be used, as a sentence. */
  readonly problem?: string;
}

export function healthOf({ open }: ManagedServer): McpHealthView | undefined {
  return open?.source.health;
}

export function listedOf({ open }: ManagedServer): ReadonlyMap<string, ListedTool> | undefined {
  return open?.review.listed;
}

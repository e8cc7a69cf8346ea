/** How the states of MCP servers and of their tools are named and coloured. */
import type { McpServerView, McpToolState } from '../../business/mcp/domain/McpViews';

export interface Label {
  readonly text: string;
  readonly tone: 'green' | 'amber' | 'red' | 'grey' | 'blue';
}

export const TOOL_LABELS: Readonly<Record<McpToolState, Label>> = {
  approved: { text: 'Approved', tone: 'green' },
  new: { text: 'New', tone: 'blue' },
  changed: { text: 'Changed', tone: 'amber' },
  missing: { text: 'Not listed', tone: 'grey' },
};

export function serverLabel({ enabled, problem, health }: McpServerView): Label {
  if (!enabled) return { text: 'Off', tone: 'grey' };
  if (problem !== undefined) return { text: 'Not usable', tone: 'red' };
  if (health?.needsSignIn === true) return { text: 'Sign-in needed', tone: 'amber' };
  switch (health?.state) {
    case 'connected':
      return { text: 'Connected', tone: 'green' };
    case 'unreachable':
      return { text: 'Unreachable', tone: 'red' };
    case 'connecting':
      return { text: 'Connecting', tone: 'blue' };
    case 'idle':
    case 'closed':
    case undefined:
      return { text: 'Not connected', tone: 'grey' };
  }
}

/** How actions, subjects, channels and outcomes of the audit trail are named and coloured. */
import type {
  AuditAction,
  AuditChannel,
  AuditEntry,
  AuditOutcome,
  AuditSubjectKind,
} from '../../business/ai/domain/types/AuditEntries';
import type { StateStyle } from '../format/stateStyles';

/** What was attempted: the outcome says whether it was done. */
export const ACTION_LABELS: Readonly<Record<AuditAction, string>> = {
  'access.refuse': 'Call a route without its scope',
  'audit.export': 'Export the audit trail',
  'budget.remove': 'Reset a budget',
  'budget.set': 'Set a budget',
  'call.approve': 'Approve a tool call',
  'call.reject': 'Reject a tool call',
  'call.submit_result': 'Submit a tool’s result',
  'credentials.rotate': 'Reseal all credentials',
  'mcp_server.approve': 'Approve tools of an MCP server',
  'mcp_server.reconnect': 'Reconnect an MCP server',
  'mcp_server.remove': 'Remove an MCP server',
  'mcp_server.save': 'Save an MCP server',
  'mcp_server.set_tool': 'Change a tool of an MCP server',
  'mcp_server.sign_in': 'Sign in at an MCP server',
  'mcp_server.sign_out': 'Sign out of an MCP server',
  'mcp_server.switch': 'Switch an MCP server on or off',
  'mcp_server.test': 'Test an MCP server',
  'memory.forget': 'Forget a memory',
  'memory.save': 'Save a memory',
  'prompt.remove': 'Remove a prompt',
  'prompt.label': 'Label a prompt',
  'prompt.save': 'Save a prompt',
  'provider.connect': 'Connect an account',
  'provider.create': 'Add a provider',
  'provider.disconnect': 'Disconnect an account',
  'provider.remove': 'Remove a provider',
  'provider.set_key': 'Set a provider’s key',
  'provider.set_own_key': 'Set one’s own key',
  'provider.update': 'Change a provider',
  'queue.pause': 'Pause the queue',
  'queue.resume': 'Resume the queue',
  'routing.remove': 'Remove a routing rule',
  'routing.save': 'Save a routing rule',
  'run.cancel': 'Cancel another user’s run',
  'run.dismiss': 'Dismiss another user’s run',
  'run.rate': 'Rate another user’s run',
  'run.resume': 'Resume another user’s run',
  'run.signal': 'Send a signal to another user’s run',
  'run.send': 'Send a message to another user’s run',
  'run.edit_message': 'Change a message to another user’s run',
  'run.withdraw_message': 'Withdraw a message to another user’s run',
  'run.start_now': 'Start another user’s queued run',
  'run.remove': 'Delete a run',
  'run.tag': 'Tag another user’s run',
  'schedule.pause': 'Pause a schedule',
  'schedule.resume': 'Resume a schedule',
  'schedule.run': 'Run a schedule now',
  'session.close': 'Sign out',
  'session.open': 'Sign in',
  'token.create': 'Create an API token',
  'token.revoke': 'Revoke an API token',
  'token.rotate': 'Rotate an API token',
  'token.update': 'Change an API token',
  'tool.call': 'Call a tool without a run',
  'user.delete_data': 'Delete a user’s data',
  'user.export_data': 'Export a user’s data',
};

export const SUBJECT_LABELS: Readonly<Record<AuditSubjectKind, string>> = {
  audit: 'Audit trail',
  budget: 'Budgets',
  call: 'Tool calls',
  credentials: 'Credentials',
  mcp_server: 'MCP servers',
  memory: 'Memories',
  prompt: 'Prompts',
  provider: 'Providers',
  queue: 'Queue',
  route: 'Routes',
  routing_rule: 'Routing rules',
  run: 'Runs',
  schedule: 'Schedules',
  session: 'Sign-ins',
  token: 'API tokens',
  tool: 'Tools',
  user: 'Users',
};

export const CHANNEL_LABELS: Readonly<Record<AuditChannel, string>> = {
  dashboard: 'Dashboard',
  http: 'HTTP API',
  method: 'Meteor method',
  server: 'The app’s own code',
};

export const OUTCOME_STYLES: Readonly<Record<AuditOutcome, StateStyle>> = {
  begun: { label: 'Begun', icon: 'hourglass', tone: 'violet', isLive: true },
  done: { label: 'Done', icon: 'check', tone: 'green', isLive: false },
  refused: { label: 'Refused', icon: 'hand', tone: 'amber', isLive: false },
  failed: { label: 'Failed', icon: 'cross', tone: 'red', isLive: false },
};

/** Who did it, for people. */
export function actorLabel({ userId, via }: AuditEntry): string {
  if (userId !== '') return userId;
  return via === 'server' ? 'the app’s own code' : 'somebody unknown';
}

/** The pages on which people sign in at MCP servers. */
import type { FlowPages } from '../../../api/oauth/oauthRoutes';

export const MCP_SIGN_IN_PAGES: FlowPages = {
  start: '/oauth/mcp/:id/start',
  callback: '/oauth/mcp-callback',
  isId: (value): value is string => typeof value === 'string' && /^[a-zA-Z0-9_-]{1,32}$/.test(value),
  noun: 'MCP server',
};

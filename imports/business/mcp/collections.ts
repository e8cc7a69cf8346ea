/** What is stored of MCP servers. Secrets are sealed by the operator's keys, whatever is set. */
import { authoredBy, ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { MCP_ACCOUNTS } from './infrastructure/DocumentMcpAccounts';
import { MCP_DEFINITIONS, MCP_SERVERS } from './infrastructure/DocumentMcpServers';

export const MCP_COLLECTIONS = [
  { name: MCP_SERVERS, bound: 'operators', content: null, ofUsers: [authoredBy('changedBy')] },
  { name: MCP_DEFINITIONS, bound: 'operators', content: null, ofUsers: [] },
  {
    name: MCP_ACCOUNTS,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'mcpAccounts',
        owner: ownedBy('userId'),
        // Without what is sealed.
        fields: { server: 1, userId: 1, listsTools: 1, signedInAt: 1 },
        isSmall: true,
      },
    ],
  },
] as const satisfies readonly StoredCollection[];

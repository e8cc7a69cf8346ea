/** The MCP servers whose tools can be offered: those of the settings, and those that admins have added. */
import { useState } from 'react';
import type { McpServerView } from '../../business/mcp/domain/McpViews';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { McpAccounts } from './McpAccounts';
import { ServerDialog } from './ServerDialog';
import { ServerRow } from './ServerRow';

export function McpServersPage() {
  const isAdmin = useIsAdmin();
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageTitle title="MCP servers">
        {isAdmin && (
          <button type="button" className="button button-primary" onClick={() => setAdding(true)}>
            <Icon name="plug" /> Add server
          </button>
        )}
      </PageTitle>
      {isAdmin ? (
        <LoadedServers />
      ) : (
        <>
          <McpAccounts />
          <EmptyState icon="plug" title="For administrators">
            Only administrators see and change MCP servers. Their tools are on the page Tools.
          </EmptyState>
        </>
      )}
      {isAdding && <ServerDialog edited={undefined} onClose={() => setAdding(false)} />}
    </>
  );
}

function LoadedServers() {
  const loaded = useData().useQuery('ai.mcpServers.list', {});
  return (
    <WhenLoaded loaded={loaded} what="MCP servers">
      {({ servers }) => <Servers servers={servers} />}
    </WhenLoaded>
  );
}

function Servers({ servers }: { readonly servers: readonly McpServerView[] }) {
  if (servers.length === 0)
    return (
      <EmptyState icon="plug" title="No MCP servers yet">
        Add one, look at its tools, and approve those that models may call.
      </EmptyState>
    );
  return (
    <ul className="budget-list">
      {servers.map((server) => (
        <ServerRow key={server.name} server={server} />
      ))}
    </ul>
  );
}

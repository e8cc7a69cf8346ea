/** What is special about a tool, as small marks. */
import type { ToolOffer } from '../data/DashboardData';
import { Icon } from '../components/Icon';

export function ToolMarks({ tool }: { readonly tool: Pick<ToolOffer, 'blocking' | 'needsApproval' | 'external'> }) {
  return (
    <span className="marks">
      <span className="mark">{tool.blocking ? 'blocking' : 'non-blocking'}</span>
      {tool.needsApproval && (
        <span className="mark tone-amber">
          <Icon name="hand" /> asks first
        </span>
      )}
      {tool.external && (
        <span className="mark tone-violet">
          <Icon name="arrow" /> external
        </span>
      )}
    </span>
  );
}

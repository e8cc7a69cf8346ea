/** The properties of a tool as small tags. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { Icon } from '../components/Icon';

export function ToolTags({ tool }: { readonly tool: Pick<ToolSummary, 'blocking' | 'needsApproval' | 'external'> }) {
  return (
    <span className="tags">
      <span className="tag">{tool.blocking ? 'blocking' : 'non-blocking'}</span>
      {tool.needsApproval && (
        <span className="tag tone-amber">
          <Icon name="hand" /> needs approval
        </span>
      )}
      {tool.external && (
        <span className="tag tone-violet">
          <Icon name="arrow" /> external
        </span>
      )}
    </span>
  );
}

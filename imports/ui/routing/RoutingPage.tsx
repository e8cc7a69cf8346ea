/** Routing rules: names that requests use as their model, and what serves them. */
import { useState } from 'react';
import type { RoutingRuleView } from '../../business/ai/domain/types/RoutingViews';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { RuleDialog } from './RuleDialog';
import { RuleRow } from './RuleRow';

export function RoutingPage() {
  const isAdmin = useIsAdmin();
  return (
    <>
      <PageTitle title="Routing" />
      {isAdmin ? (
        <LoadedRules />
      ) : (
        <EmptyState icon="route" title="For administrators">
          Only administrators see and change routing rules. Your models are listed in the playground.
        </EmptyState>
      )}
    </>
  );
}

function LoadedRules() {
  const loaded = useData().useQuery('ai.routing.list', {});
  return (
    <WhenLoaded loaded={loaded} what="routing rules">
      {({ rules }) => <Rules rules={rules} />}
    </WhenLoaded>
  );
}

function Rules({ rules }: { readonly rules: readonly RoutingRuleView[] }) {
  const data = useData();
  const [edited, setEdited] = useState<RoutingRuleView | 'new'>();
  const [removed, setRemoved] = useState<RoutingRuleView>();
  return (
    <div className="stack">
      <div className="section-head">
        <p className="muted">Requests use a rule’s name as their model. Changes apply at once.</p>
        <button type="button" className="button button-primary" onClick={() => setEdited('new')}>
          New rule
        </button>
      </div>
      {rules.length === 0 ? (
        <EmptyState icon="route" title="No rules yet">
          A rule gives models a name of your own: an alias, a list of fallbacks, or several accounts that share the
          load.
        </EmptyState>
      ) : (
        <ul className="budget-list">
          {rules.map((rule) => (
            <RuleRow key={rule.name} rule={rule} onEdit={() => setEdited(rule)} onRemove={() => setRemoved(rule)} />
          ))}
        </ul>
      )}
      {edited !== undefined && (
        <RuleDialog
          edited={edited === 'new' ? undefined : edited}
          names={rules.map(({ name }) => name)}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <ConfirmDialog
          title={removed.isOverride ? `Reset ${removed.name} to the settings?` : `Delete ${removed.name}?`}
          action={removed.isOverride ? 'Reset rule' : 'Delete rule'}
          onConfirm={() => data.call('ai.routing.remove', { name: removed.name })}
          onClose={() => setRemoved(undefined)}
        >
          <p>
            {removed.isOverride
              ? 'The rule of the server’s settings applies again at once.'
              : 'Requests for this model are answered with 404 from then on.'}
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

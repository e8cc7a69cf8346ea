/** What users and teams may spend: limits, and what is used of them. */
import { useState } from 'react';
import type { BudgetList, BudgetView } from '../../business/limits/domain/BudgetViews';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { SearchField } from '../components/list/SearchField';
import { useLastReady } from '../components/list/useLastReady';
import { PageTitle } from '../components/PageTitle';
import { UserLink } from '../components/User';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { BudgetDialog } from './BudgetDialog';
import { BudgetRow } from './BudgetRow';
import { describeLimits, SOURCES } from './describeLimits';
import { subjectOf } from './EditedBudget';
import type { EditedBudget } from './EditedBudget';

export function BudgetsPage() {
  const isAdmin = useIsAdmin();
  const [search, setSearch] = useState('');
  const { shown } = useLastReady(useData().useQuery('ai.budgets.list', search === '' ? {} : { search }));
  return (
    <>
      <PageTitle title="Budgets" />
      <WhenLoaded loaded={shown} what="budgets">
        {(list) => <Budgets list={list} isAdmin={isAdmin} search={search} onSearch={setSearch} />}
      </WhenLoaded>
    </>
  );
}

function Budgets({
  list: { everyone, budgets, teams = [], isTruncated },
  isAdmin,
  search,
  onSearch,
}: {
  readonly list: BudgetList;
  readonly isAdmin: boolean;
  readonly search: string;
  readonly onSearch: (search: string) => void;
}) {
  const data = useData();
  const [edited, setEdited] = useState<EditedBudget | 'new'>();
  const [removed, setRemoved] = useState<EditedBudget>();
  const actionsOf = (budget: EditedBudget) =>
    isAdmin ? { onEdit: () => setEdited(budget), onRemove: () => setRemoved(budget) } : {};
  return (
    <div className="stack">
      {isAdmin && (
        <section className="card" aria-labelledby="budget-everyone">
          <div className="section-head">
            <div>
              <h2 id="budget-everyone">Everyone</h2>
              <p className="muted">
                For users who have no limits of their own. {SOURCES[everyone.source]}
                {everyone.changedBy !== undefined && (
                  <>
                    {' by '}
                    <UserLink userId={everyone.changedBy} />
                  </>
                )}
              </p>
            </div>
            <div className="buttons">
              <button
                type="button"
                className="button button-small"
                onClick={() => setEdited({ userId: undefined, current: everyone })}
              >
                Change limits
              </button>
              {everyone.source === 'dashboard' && (
                <button
                  type="button"
                  className="button button-small button-danger"
                  onClick={() => setRemoved({ userId: undefined, current: everyone })}
                >
                  Reset to settings
                </button>
              )}
            </div>
          </div>
          <p>{describeLimits(everyone.limits)}</p>
        </section>
      )}
      {isAdmin && (
        <div className="section-head">
          <SearchField label="Search users" value={search} placeholder="Search users" onSearch={onSearch} />
          <button type="button" className="button button-primary" onClick={() => setEdited('new')}>
            Set a user’s budget
          </button>
        </div>
      )}
      {budgets.length === 0 ? (
        <EmptyState icon="gauge" title={search === '' ? 'Nothing used this month' : 'No such user'}>
          Users appear here with their first model call of the month, or when they get limits of their own.
        </EmptyState>
      ) : (
        <ul className="budget-list">
          {budgets.map((budget) => (
            <BudgetRow key={budget.userId} budget={budget} {...actionsOf(toEdited(budget))} />
          ))}
        </ul>
      )}
      {isTruncated && <p className="muted">Only the 500 users closest to a limit are shown. Search for others.</p>}
      {teams.length > 0 && (
        <section className="stack" aria-labelledby="budget-teams">
          <h2 id="budget-teams">Teams of tokens</h2>
          <ul className="budget-list">
            {teams.map((view) => {
              const budget = { ...view, userId: view.team, isOwn: view.source !== 'none' };
              return (
                <BudgetRow
                  key={view.team}
                  budget={budget}
                  isTeam
                  {...actionsOf({ ...toEdited(budget), isTeam: true })}
                />
              );
            })}
          </ul>
        </section>
      )}
      {edited !== undefined && (
        <BudgetDialog edited={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {removed !== undefined && (
        <ConfirmDialog
          title={
            removed.userId === undefined ? 'Reset the limits of everyone?' : `Remove the limits of ${removed.userId}?`
          }
          action={removed.userId === undefined ? 'Reset limits' : 'Remove limits'}
          onConfirm={() => data.call('ai.budgets.remove', subjectOf(removed))}
          onClose={() => setRemoved(undefined)}
        >
          <p>The limits of the server’s settings apply again at once. What was used stays counted.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function toEdited(budget: BudgetView): EditedBudget {
  return { userId: budget.userId, current: budget };
}

/** One routing rule: its targets with their state, and its settings in words. */
import type { RoutingRuleView, RoutingTargetView } from '../../business/ai/domain/types/RoutingViews';
import { UserLink } from '../components/User';
import { formatDuration } from '../format/format';
import { describeRule, STRATEGIES } from './describeRule';

export function RuleRow({
  rule,
  onEdit,
  onRemove,
}: {
  readonly rule: RoutingRuleView;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}) {
  const { name, description, strategy, targets, enabled, source, isOverride, changedBy } = rule;
  const isUnserved = targets.every(({ problem }) => problem !== undefined);
  return (
    <li className="card rule" data-rule={name}>
      <div className="section-head">
        <div>
          <h2 className="rule-name">
            <bdi>{name}</bdi>
          </h2>
          <p className="muted">
            {source === 'settings' ? 'Set in the server’s settings' : 'Set here'}
            {isOverride && ', in place of the settings’'}
            {changedBy !== undefined && (
              <>
                {' by '}
                <UserLink userId={changedBy} />
              </>
            )}
          </p>
        </div>
        <div className="buttons">
          {!enabled && <span className="badge tone-grey">Disabled</span>}
          {enabled && isUnserved && <span className="badge tone-red">No target</span>}
          <button type="button" className="button button-small" onClick={onEdit} aria-label={`Edit: ${name}`}>
            Edit
          </button>
          {source === 'dashboard' && (
            <button
              type="button"
              className="button button-small button-danger"
              onClick={onRemove}
              aria-label={`${isOverride ? 'Reset' : 'Delete'}: ${name}`}
            >
              {isOverride ? 'Reset' : 'Delete'}
            </button>
          )}
        </div>
      </div>
      {description !== undefined && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <p className="muted">
        {STRATEGIES[strategy].label}
        {describeRule(rule)}
      </p>
      <ol className="rule-targets">
        {targets.map((target) => (
          <Target key={target.model} target={target} hasWeight={strategy !== 'fallback'} />
        ))}
      </ol>
    </li>
  );
}

function Target({ target, hasWeight }: { readonly target: RoutingTargetView; readonly hasWeight: boolean }) {
  const { model, weight = 1, problem, circuit, isPaused, firstToken, complete } = target;
  const latencies = [
    ...(firstToken === undefined ? [] : [`first token ${formatDuration(firstToken)}`]),
    ...(complete === undefined ? [] : [`response ${formatDuration(complete)}`]),
  ];
  return (
    <li className="rule-target" data-target={model}>
      <span className="mono rule-model">
        <bdi>{model}</bdi>
      </span>
      {hasWeight && <span className="muted numeric">weight {weight}</span>}
      {latencies.length > 0 && <span className="muted numeric">{latencies.join(', ')}</span>}
      {problem !== undefined && <span className="badge tone-amber">{problem}</span>}
      {problem === undefined && circuit !== undefined && circuit !== 'closed' && (
        <span className="badge tone-red">Provider is failing</span>
      )}
      {isPaused && <span className="badge tone-amber">Called last for now</span>}
    </li>
  );
}

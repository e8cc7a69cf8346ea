/** Two runs side by side: settings, prompt, answer, tool calls, tokens, cost and duration. */
import type { RunExport } from '../../../business/ai/domain/types/RunExport';
import type { Loaded } from '../../data/DashboardData';
import { useData } from '../../hooks/BolideProvider';
import { formatDateTime } from '../../format/format';
import { EmptyState } from '../../components/EmptyState';
import { PageTitle } from '../../components/PageTitle';
import { WhenLoaded } from '../../components/WhenLoaded';
import { linkTo } from '../../shell/route';
import { CallDiff } from './CallDiff';
import { comparedRun } from './comparedRun';
import type { ComparedRun } from './comparedRun';
import { RunPicker } from './RunPicker';
import { TextDiff } from './TextDiff';

export interface RunDiffPageProps {
  readonly leftId: string;
  /** Absent as long as none is chosen. */
  readonly rightId?: string | undefined;
}

export function RunDiffPage({ leftId, rightId }: RunDiffPageProps) {
  return (
    <>
      <nav className="breadcrumbs" aria-label="Breadcrumb">
        <a href={linkTo(['runs'])}>Runs</a> <span aria-hidden="true">/</span>{' '}
        <a href={linkTo(['runs', leftId])} className="mono">
          {leftId.slice(0, 8)}
        </a>{' '}
        <span aria-hidden="true">/</span> Compare
      </nav>
      <PageTitle title="Compare runs" />
      {rightId === undefined ? <RunPicker leftId={leftId} /> : <LoadedDiff leftId={leftId} rightId={rightId} />}
    </>
  );
}

function LoadedDiff({ leftId, rightId }: { readonly leftId: string; readonly rightId: string }) {
  const { useQuery } = useData();
  const loaded = bothOf(
    useQuery('ai.runs.export', { executionId: leftId }),
    useQuery('ai.runs.export', { executionId: rightId }),
  );
  if (loaded.state === 'failed' && loaded.error.code === 'invalid-request')
    return (
      <EmptyState icon="search" title="One of these runs doesn’t exist">
        It may have been removed, or it belongs to another user.{' '}
        <a href={linkTo(['runs', leftId, 'diff'])}>Choose another run</a>
      </EmptyState>
    );
  return (
    <WhenLoaded loaded={loaded} what="the runs">
      {([left, right]) => <Diff left={left} right={right} />}
    </WhenLoaded>
  );
}

function Diff({ left, right }: { readonly left: RunExport; readonly right: RunExport }) {
  const [a, b] = [comparedRun(left), comparedRun(right)];
  return (
    <div className="run-diff">
      <div className="diff-pair">
        <RunHead exported={left} side="A" />
        <RunHead exported={right} side="B" />
      </div>
      <p className="buttons">
        <a className="button" href={linkTo(['runs', right.run.executionId, 'diff', left.run.executionId])}>
          Swap
        </a>
        <a className="button" href={linkTo(['runs', left.run.executionId, 'diff'])}>
          Compare with another run
        </a>
      </p>
      <section className="card" aria-labelledby="diff-facts">
        <h2 id="diff-facts">Settings and figures</h2>
        <FactTable left={a} right={b} />
      </section>
      {TEXTS.filter((name) => a[name] !== '' || b[name] !== '').map((name) => (
        <section key={name} className="card" aria-labelledby={`diff-${name}`} data-diff={name}>
          <h2 id={`diff-${name}`}>{TITLES[name]}</h2>
          <TextDiff name={name} left={a[name]} right={b[name]} />
        </section>
      ))}
      <section className="card" aria-labelledby="diff-calls">
        <h2 id="diff-calls">Tool calls</h2>
        <CallDiff left={a.calls} right={b.calls} />
      </section>
    </div>
  );
}

const TEXTS = ['instructions', 'prompt', 'answer'] as const;
const TITLES = { instructions: 'Instructions', prompt: 'Prompt', answer: 'Answer' } as const;

function RunHead({ exported: { run }, side }: { readonly exported: RunExport; readonly side: string }) {
  return (
    <div className="card diff-head">
      <span className="diff-mark">{side}</span>
      <div>
        <a href={linkTo(['runs', run.executionId])} dir="auto">
          {run.title === '' ? 'Untitled run' : run.title}
        </a>
        <p className="muted">{formatDateTime(run.createdAt)}</p>
      </div>
    </div>
  );
}

function FactTable({ left, right }: { readonly left: ComparedRun; readonly right: ComparedRun }) {
  const names = [...new Set([...left.facts, ...right.facts].map(({ name }) => name))];
  const valueOf = (run: ComparedRun, name: string): string =>
    run.facts.find((fact) => fact.name === name)?.value ?? '–';
  return (
    <table className="diff-table">
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Name</span>
          </th>
          <th scope="col">A</th>
          <th scope="col">B</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => {
          const [a, b] = [valueOf(left, name), valueOf(right, name)];
          return (
            <tr key={name} data-changed={a !== b}>
              <th scope="row">{name}</th>
              <td dir="auto">{a}</td>
              <td dir="auto">{b}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function bothOf<T>(left: Loaded<T>, right: Loaded<T>): Loaded<readonly [T, T]> {
  if (left.state !== 'ready') return left;
  if (right.state !== 'ready') return right;
  return { state: 'ready', value: [left.value, right.value] };
}

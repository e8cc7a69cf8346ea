/** The pages of one run: `runs/:id`, and `runs/:id/diff/:other`. */
import type { PageProps } from '../shell/PageProps';
import { RunDiffPage } from './diff/RunDiffPage';
import { RunPage } from './RunPage';

export function RunRoute({ route }: PageProps) {
  const [, executionId = '', part, otherId] = route.path;
  if (part === 'diff') return <RunDiffPage leftId={executionId} rightId={otherId} />;
  return <RunPage executionId={executionId} />;
}

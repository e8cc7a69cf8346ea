/** Says on every page that no model wrote the answers, when that is so. */
import { useData } from '../data/DataContext';
import { Icon } from '../components/Icon';

export function SimulationNotice() {
  const notice = useData().useSimulationNotice();
  if (notice === undefined) return null;
  return (
    <aside className="notice" aria-label="About the answers">
      <Icon name="flask" />
      <p>
        <strong>SIMULATED</strong> {notice}
      </p>
    </aside>
  );
}

/** The dashboard's style sheets, in their order. They apply below its root element only. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/content.css';
import './styles/shell.css';
import './styles/overview.css';
import './styles/runs.css';
import './styles/run.css';
import './styles/list.css';
import './styles/requests.css';
import './styles/pages.css';
import './styles/playground.css';
import './styles/inbox.css';
import './styles/usage.css';
import './styles/admin.css';

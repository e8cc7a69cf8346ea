/** The style sheets of the pages after sign-in, in their order. They follow those of `signInStyles`. */
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

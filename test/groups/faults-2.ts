import { runAreas } from '../groups.ts';

runAreas(['faults', 'files'], 2, 2);

package qmgrd.e2e;

import static qmgrd.e2e.Checks.same;

import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.constants.CMQCFC;
import com.ibm.mq.constants.CMQXC;
import com.ibm.mq.headers.pcf.PCFException;
import com.ibm.mq.headers.pcf.PCFMessage;
import com.ibm.mq.headers.pcf.PCFMessageAgent;

/**
 * The vendor's PCF classes: commands to the command server and its answers. Arguments as {@link Target}.
 */
public final class Pcf {
    public static void main(String[] args) throws Exception {
        MQQueueManager m = new Target(args).connect();
        PCFMessageAgent a = new PCFMessageAgent(m);
        a.setWaitInterval(20); // seconds
        Checks c = new Checks(args);
        c.check("inquireqmgr", () -> inquireQMgr(a));
        c.check("ping", () -> ping(a));
        c.check("createq", () -> createQ(a));
        c.check("changeq", () -> changeQ(a));
        c.check("inquireq", () -> inquireQ(a));
        c.check("inquireall", () -> inquireAll(a));
        c.check("filter", () -> filter(a));
        c.check("names", () -> names(a));
        c.check("status", () -> status(a));
        c.check("resetstats", () -> resetStats(a));
        c.check("copyq", () -> copyQ(a));
        c.check("deleteq", () -> deleteQ(a));
        c.check("unknownq", () -> unknownQ(a));
        c.check("wrong", () -> wrong(a));
        c.check("channel", () -> channel(a));
        c.check("connection", () -> connection(a));
        c.check("topic", () -> topic(a));
        c.check("escape", () -> escape(a));
        a.disconnect();
        m.disconnect();
        c.exit();
    }

    private static void reason(int want, PCFMessageAgent a, PCFMessage q) throws Exception {
        try {
            a.send(q);
        } catch (PCFException e) {
            same(want, e.reasonCode);
            same(CMQC.MQCC_FAILED, e.completionCode);
            return;
        }
        throw new AssertionError("no exception, want reason " + want);
    }

    /** queue starts a command about a local queue. */
    private static PCFMessage queue(int command, String name) {
        PCFMessage q = new PCFMessage(command);
        q.addParameter(CMQC.MQCA_Q_NAME, name);
        q.addParameter(CMQC.MQIA_Q_TYPE, CMQC.MQQT_LOCAL);
        return q;
    }

    private static PCFMessage one(PCFMessageAgent a, PCFMessage q) throws Exception {
        return one(a, q, q.getCommand());
    }

    private static PCFMessage one(PCFMessageAgent a, PCFMessage q, int command) throws Exception {
        PCFMessage[] r = a.send(q);
        same(1, r.length);
        same(command, r[0].getCommand());
        same(CMQCFC.MQCFT_RESPONSE, r[0].getType());
        same(CMQCFC.MQCFC_LAST, r[0].getControl());
        same(CMQC.MQCC_OK, r[0].getCompCode());
        return r[0];
    }

    private static void inquireQMgr(PCFMessageAgent a) throws Exception {
        PCFMessage all = one(a, new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_MGR));
        same("QM1", all.getStringParameterValue(CMQC.MQCA_Q_MGR_NAME).trim());
        same(CMQC.MQPL_UNIX, all.getIntParameterValue(CMQC.MQIA_PLATFORM));
        same("SYSTEM.ADMIN.COMMAND.QUEUE", all.getStringParameterValue(CMQC.MQCA_COMMAND_INPUT_Q_NAME).trim());
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_MGR);
        q.addParameter(CMQCFC.MQIACF_Q_MGR_ATTRS, new int[] {CMQC.MQIA_COMMAND_LEVEL});
        PCFMessage few = one(a, q);
        same(null == few.getParameter(CMQC.MQIA_PLATFORM), true);
        same(true, few.getIntParameterValue(CMQC.MQIA_COMMAND_LEVEL) > 900);
    }

    private static void ping(PCFMessageAgent a) throws Exception {
        same(0, one(a, new PCFMessage(CMQCFC.MQCMD_PING_Q_MGR)).getParameterCount());
    }

    private static void createQ(PCFMessageAgent a) throws Exception {
        PCFMessage q = queue(CMQCFC.MQCMD_CREATE_Q, "PCF.Q");
        q.addParameter(CMQC.MQIA_MAX_Q_DEPTH, 123);
        q.addParameter(CMQC.MQCA_Q_DESC, "made by PCF");
        one(a, q);
        reason(CMQCFC.MQRCCF_OBJECT_ALREADY_EXISTS, a, q);
        q.addParameter(CMQCFC.MQIACF_REPLACE, CMQCFC.MQRP_YES);
        one(a, q);
    }

    private static void changeQ(PCFMessageAgent a) throws Exception {
        PCFMessage q = queue(CMQCFC.MQCMD_CHANGE_Q, "PCF.Q");
        q.addParameter(CMQC.MQIA_INHIBIT_PUT, CMQC.MQQA_PUT_INHIBITED);
        q.addParameter(CMQC.MQIA_DEF_PERSISTENCE, CMQC.MQPER_PERSISTENT);
        one(a, q);
    }

    private static void inquireQ(PCFMessageAgent a) throws Exception {
        PCFMessage q = queue(CMQCFC.MQCMD_INQUIRE_Q, "PCF.*");
        q.addParameter(CMQCFC.MQIACF_Q_ATTRS, new int[] {CMQC.MQCA_Q_NAME, CMQC.MQIA_CURRENT_Q_DEPTH, CMQC.MQIA_INHIBIT_PUT,
            CMQC.MQIA_MAX_Q_DEPTH, CMQC.MQCA_Q_DESC});
        PCFMessage r = one(a, q);
        same("PCF.Q" + " ".repeat(43), r.getStringParameterValue(CMQC.MQCA_Q_NAME));
        same(0, r.getIntParameterValue(CMQC.MQIA_CURRENT_Q_DEPTH));
        same(CMQC.MQQA_PUT_INHIBITED, r.getIntParameterValue(CMQC.MQIA_INHIBIT_PUT));
        same(123, r.getIntParameterValue(CMQC.MQIA_MAX_Q_DEPTH));
        same("made by PCF", r.getStringParameterValue(CMQC.MQCA_Q_DESC).trim());
        same(true, r.getParameter(CMQC.MQIA_DEF_PERSISTENCE) == null);
    }

    private static void inquireAll(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q);
        q.addParameter(CMQC.MQCA_Q_NAME, "*");
        PCFMessage[] r = a.send(q);
        same(true, r.length > 20);
        for (int i = 0; i < r.length; i++) {
            same(i + 1, r[i].getMsgSeqNumber());
            same(i == r.length - 1 ? CMQCFC.MQCFC_LAST : CMQCFC.MQCFC_NOT_LAST, r[i].getControl());
            same(true, r[i].getParameter(CMQC.MQIA_Q_TYPE) != null);
        }
    }

    private static void filter(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q);
        q.addParameter(CMQC.MQCA_Q_NAME, "*");
        q.addParameter(CMQCFC.MQIACF_Q_ATTRS, new int[] {CMQC.MQCA_Q_NAME});
        q.addFilterParameter(CMQC.MQIA_MAX_Q_DEPTH, CMQCFC.MQCFOP_EQUAL, 123);
        same("PCF.Q", one(a, q).getStringParameterValue(CMQC.MQCA_Q_NAME).trim());
    }

    private static void names(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_NAMES);
        q.addParameter(CMQC.MQCA_Q_NAME, "PCF.*");
        PCFMessage r = one(a, q);
        same(1, r.getStringListParameterValue(CMQCFC.MQCACF_Q_NAMES).length);
        same(CMQC.MQQT_LOCAL, r.getIntListParameterValue(CMQCFC.MQIACF_Q_TYPES)[0]);
    }

    private static void status(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_STATUS);
        q.addParameter(CMQC.MQCA_Q_NAME, "SYSTEM.ADMIN.COMMAND.QUEUE");
        same(1, one(a, q).getIntParameterValue(CMQC.MQIA_OPEN_INPUT_COUNT));
    }

    private static void resetStats(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_RESET_Q_STATS);
        q.addParameter(CMQC.MQCA_Q_NAME, "SYSTEM.ADMIN.COMMAND.QUEUE");
        PCFMessage r = one(a, q);
        same(true, r.getIntParameterValue(CMQC.MQIA_MSG_ENQ_COUNT) > 5);
        same(true, r.getIntParameterValue(CMQC.MQIA_MSG_DEQ_COUNT) > 5);
        same(1, r.getIntParameterValue(CMQC.MQIA_HIGH_Q_DEPTH));
        same(1, one(a, q).getIntParameterValue(CMQC.MQIA_MSG_ENQ_COUNT));
    }

    private static void copyQ(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_COPY_Q);
        q.addParameter(CMQCFC.MQCACF_FROM_Q_NAME, "PCF.Q");
        q.addParameter(CMQCFC.MQCACF_TO_Q_NAME, "PCF.COPY");
        q.addParameter(CMQC.MQIA_Q_TYPE, CMQC.MQQT_LOCAL);
        one(a, q);
        PCFMessage i = queue(CMQCFC.MQCMD_INQUIRE_Q, "PCF.COPY");
        same(123, one(a, i).getIntParameterValue(CMQC.MQIA_MAX_Q_DEPTH));
    }

    private static void deleteQ(PCFMessageAgent a) throws Exception {
        one(a, queue(CMQCFC.MQCMD_DELETE_Q, "PCF.Q"));
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_DELETE_Q); // the type may be left out
        q.addParameter(CMQC.MQCA_Q_NAME, "PCF.COPY");
        one(a, q);
    }

    private static void unknownQ(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q);
        q.addParameter(CMQC.MQCA_Q_NAME, "NO.SUCH.QUEUE");
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, a, q);
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, a, queue(CMQCFC.MQCMD_DELETE_Q, "NO.SUCH.QUEUE"));
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, a, queue(CMQCFC.MQCMD_CHANGE_Q, "NO.SUCH.QUEUE"));
    }

    private static void wrong(PCFMessageAgent a) throws Exception {
        reason(CMQCFC.MQRCCF_CFH_COMMAND_ERROR, a, new PCFMessage(8888));
        reason(CMQCFC.MQRCCF_PARM_COUNT_TOO_SMALL, a, new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q));
        PCFMessage twice = queue(CMQCFC.MQCMD_CREATE_Q, "PCF.X");
        twice.addParameter(CMQC.MQCA_Q_NAME, "PCF.Y");
        reason(CMQCFC.MQRCCF_CFST_DUPLICATE_PARM, a, twice);
        reason(CMQCFC.MQRCCF_OBJECT_NAME_ERROR, a, queue(CMQCFC.MQCMD_CREATE_Q, "NOT A NAME"));
        PCFMessage type = new PCFMessage(CMQCFC.MQCMD_CREATE_Q);
        type.addParameter(CMQC.MQCA_Q_NAME, "PCF.X");
        type.addParameter(CMQC.MQIA_Q_TYPE, 4711);
        reason(CMQCFC.MQRCCF_Q_TYPE_ERROR, a, type);
    }

    private static void channel(PCFMessageAgent a) throws Exception {
        PCFMessage c = new PCFMessage(CMQCFC.MQCMD_CREATE_CHANNEL);
        c.addParameter(CMQCFC.MQCACH_CHANNEL_NAME, "PCF.SVRCONN");
        c.addParameter(CMQCFC.MQIACH_CHANNEL_TYPE, CMQXC.MQCHT_SVRCONN);
        c.addParameter(CMQCFC.MQIACH_SHARING_CONVERSATIONS, 7);
        one(a, c);
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_CHANNEL);
        q.addParameter(CMQCFC.MQCACH_CHANNEL_NAME, "PCF.*");
        PCFMessage r = one(a, q);
        same("PCF.SVRCONN", r.getStringParameterValue(CMQCFC.MQCACH_CHANNEL_NAME).trim());
        same(CMQXC.MQCHT_SVRCONN, r.getIntParameterValue(CMQCFC.MQIACH_CHANNEL_TYPE));
        same(7, r.getIntParameterValue(CMQCFC.MQIACH_SHARING_CONVERSATIONS));
        PCFMessage d = new PCFMessage(CMQCFC.MQCMD_DELETE_CHANNEL);
        d.addParameter(CMQCFC.MQCACH_CHANNEL_NAME, "PCF.SVRCONN");
        one(a, d);
        reason(CMQCFC.MQRCCF_CHANNEL_NOT_FOUND, a, q);
    }

    private static void connection(PCFMessageAgent a) throws Exception {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_CONNECTION);
        q.addParameter(CMQCFC.MQBACF_GENERIC_CONNECTION_ID, new byte[0]);
        boolean me = false;
        boolean server = false;
        for (PCFMessage r : a.send(q)) {
            same(CMQC.MQ_CONNECTION_ID_LENGTH, r.getBytesParameterValue(CMQCFC.MQBACF_CONNECTION_ID).length);
            me |= "DEV.APP.SVRCONN".equals(r.getStringParameterValue(CMQCFC.MQCACH_CHANNEL_NAME).trim());
            server |= "amqpcsea".equals(r.getStringParameterValue(CMQCFC.MQCACF_APPL_TAG).trim());
        }
        same(true, me && server);
    }

    private static void topic(PCFMessageAgent a) throws Exception {
        PCFMessage c = new PCFMessage(CMQCFC.MQCMD_CREATE_TOPIC);
        c.addParameter(CMQC.MQCA_TOPIC_NAME, "PCF.TOPIC");
        c.addParameter(CMQC.MQCA_TOPIC_STRING, "pcf/\u00e4");
        one(a, c);
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_INQUIRE_TOPIC_STATUS);
        q.addParameter(CMQC.MQCA_TOPIC_STRING, "pcf/#");
        PCFMessage[] r = a.send(q);
        same("pcf/\u00e4", r[r.length - 1].getStringParameterValue(CMQC.MQCA_TOPIC_STRING));
        PCFMessage d = new PCFMessage(CMQCFC.MQCMD_DELETE_TOPIC);
        d.addParameter(CMQC.MQCA_TOPIC_NAME, "PCF.TOPIC");
        one(a, d);
    }

    private static PCFMessage mqsc(String text) {
        PCFMessage q = new PCFMessage(CMQCFC.MQCMD_ESCAPE);
        q.addParameter(CMQCFC.MQIACF_ESCAPE_TYPE, CMQCFC.MQET_MQSC);
        q.addParameter(CMQCFC.MQCACF_ESCAPE_TEXT, text);
        return q;
    }

    private static void escape(PCFMessageAgent a) throws Exception {
        String s = one(a, mqsc("DEFINE QLOCAL(PCF.ESC)"), CMQCFC.MQCMD_CREATE_Q)
                .getStringParameterValue(CMQCFC.MQCACF_ESCAPE_TEXT);
        same(true, s.startsWith("AMQ8006I"));
        s = one(a, mqsc("DISPLAY QLOCAL(PCF.*) MAXDEPTH"), CMQCFC.MQCMD_INQUIRE_Q)
                .getStringParameterValue(CMQCFC.MQCACF_ESCAPE_TEXT);
        same(true, s.contains("QUEUE(PCF.ESC)") && s.contains("MAXDEPTH("));
        one(a, mqsc("DELETE QLOCAL(PCF.ESC)"), CMQCFC.MQCMD_DELETE_Q);
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, a, mqsc("DELETE QLOCAL(PCF.ESC)"));
        reason(CMQCFC.MQRCCF_COMMAND_FAILED, a, mqsc("NO COMMAND AT ALL"));
    }
}
